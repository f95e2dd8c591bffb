#![doc = include_str!("../README.md")]

mod answers;
mod app;
mod canvas;
mod settings;
mod test;

use std::fmt::Display;

use http::{Method, Request};
use http_body::Body;
use service::{Asked, Refusal};
use state::FlowId;
use tokio::time::Instant;

pub use analyst::Memories;
pub use app::App;
pub use service::{Answer, Callers, Problems};
pub use settings::{Deployment, Settings};

/// Where the route begins.
pub const PATH: &str = "/api/v1/pinned-queries/";

/// Answers one HTTP request; `latest` is when the answer must be on its way.
pub async fn handle<B>(app: &App, request: Request<B>, latest: Instant) -> Answer
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    // Boxed, or the compiler finds the future of a whole test nested too deep.
    Box::pin(answer(app, request, latest)).await.unwrap_or_else(Refusal::into_answer)
}

async fn answer<B>(app: &App, request: Request<B>, latest: Instant) -> Result<Answer, Refusal>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    let (parts, body) = request.into_parts();
    app.settings.front.admits(&parts)?;
    let flow = route(&parts.method, parts.uri.path())?;
    let caller = app.callers.caller(&app.control, &parts.headers, latest).await?;
    let asked = Asked::read(&parts, body).await?;
    test::run(app, &caller, &flow, &asked, latest).await
}

/// The flow that a path names. An id that could be none is not found, as one that is not there.
fn route(method: &Method, path: &str) -> Result<FlowId, Refusal> {
    let nothing = || {
        Refusal::not_found(
            "there is nothing at this path; a pin is tested at /api/v1/pinned-queries/{flowId}/test",
        )
    };
    let id = path.trim_end_matches('/').strip_prefix(PATH).and_then(|rest| rest.strip_suffix("/test"));
    let id = id.filter(|id| !id.contains('/')).ok_or_else(nothing)?;
    if method != Method::POST {
        return Err(Refusal::only("POST"));
    }
    FlowId::parse(id).ok_or_else(|| answers::no_flow(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_path_and_it_takes_post() {
        let status = |method: Method, path: &str| match route(&method, path) {
            Ok(_) => 200,
            Err(refusal) => refusal.into_answer().status().as_u16(),
        };
        for path in ["/api/v1/pinned-queries/sales/test", "/api/v1/pinned-queries/sales/test/"] {
            assert_eq!(status(Method::POST, path), 200);
            assert_eq!(status(Method::GET, path), 405);
        }
        for path in [
            "/api/v1/pinned-queries/test",
            "/api/v1/pinned-queries/a/b/test",
            "/api/v1/pinned-queries/A/test",
            "/",
        ] {
            assert_eq!(status(Method::POST, path), 404, "{path}");
        }
    }
}
