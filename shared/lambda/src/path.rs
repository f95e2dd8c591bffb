//! Paths without the stage of an HTTP API.

use http::Uri;
use http::uri::PathAndQuery;
use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt as _};

/// The same request with the path that its caller means. An HTTP API puts the name of its stage in front of it, unless that
/// is `$default`.
pub(crate) fn from_root(mut request: Request) -> Request {
    let stage = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.stage.clone(),
        _ => None,
    };
    if let Some(uri) = stage.and_then(|stage| without(request.uri(), &stage)) {
        *request.uri_mut() = uri;
    }
    request
}

fn without(uri: &Uri, stage: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix('/')?.strip_prefix(stage)?;
    let rest = match rest.as_bytes().first() {
        Some(b'/') => rest.to_owned(),
        None | Some(b'?') => format!("/{rest}"),
        Some(_) => return None,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::from_maybe_shared(rest).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, stage: &str, expected: Option<&str>) {
        let found = without(&uri.parse().unwrap(), stage);
        assert_eq!(found.map(|uri| uri.to_string()).as_deref(), expected, "{uri} {stage}");
    }

    #[test]
    fn a_stage_is_taken_off_as_a_whole_segment() {
        check("https://h/prod/mcp/a/b?x=1", "prod", Some("https://h/mcp/a/b?x=1"));
        check("https://h/prod", "prod", Some("https://h/"));
        check("https://h/prod?x=/", "prod", Some("https://h/?x=/"));
        check("/prod/mcp/a", "prod", Some("/mcp/a"));
        check("https://h/production/mcp", "prod", None);
        check("https://h/mcp/prod", "prod", None);
        check("https://h/mcp/a", "$default", None);
    }
}
