//! What callers without a good token are told in `WWW-Authenticate` (RFC 6750), and where clients learn how to get one (RFC 9728).

use serde_json::{Value, json};

use crate::server::{Rejected, ResourceServer};

/// Where the metadata lies; a resource's path follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl ResourceServer {
    /// The path of the resource whose metadata a path is of: empty for the whole server. None for other paths.
    pub fn metadata_of(path: &str) -> Option<&str> {
        let resource = path.strip_prefix(WELL_KNOWN)?.trim_end_matches('/');
        (resource.is_empty() || resource.starts_with('/')).then_some(resource)
    }

    /// The metadata of the resource at a path; `scopes` are those that it asks for.
    pub fn metadata(&self, path: &str, scopes: &[&str]) -> Value {
        json!({
            "resource": self.settings.public_url.at(path),
            "authorization_servers": [self.settings.issuer],
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "pinguard",
        })
    }

    /// `WWW-Authenticate` for a caller who is refused at a path; `scope` is what it asks for, if that is one.
    pub fn challenge(&self, path: &str, scope: Option<&str>, why: &Rejected) -> String {
        match why {
            Rejected::Invalid(invalid) => {
                self.bearer(path, scope, Some(("invalid_token", &invalid.to_string())))
            }
            Rejected::NoToken(_) | Rejected::NoPlace(_) | Rejected::NoKeys => self.bearer(path, scope, None),
        }
    }

    /// `WWW-Authenticate` for a caller whose token lacks a scope.
    pub fn lacks(&self, path: &str, scope: &str) -> String {
        let description = format!("the access token lacks the scope {scope}");
        self.bearer(path, Some(scope), Some(("insufficient_scope", &description)))
    }

    fn bearer(&self, path: &str, scope: Option<&str>, error: Option<(&str, &str)>) -> String {
        let url = self.settings.public_url.at(&format!("{WELL_KNOWN}{path}"));
        let scope = scope.map(|scope| format!(", scope=\"{scope}\"")).unwrap_or_default();
        let error = error
            .map(|(error, description)| format!(", error=\"{error}\", error_description=\"{description}\""));
        let error = error.unwrap_or_default();
        format!("Bearer realm=\"pinguard\", resource_metadata=\"{url}\"{scope}{error}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::NoToken;
    use crate::settings::tests::settings;
    use crate::token::Invalid;

    #[test]
    fn metadata_names_the_resource_that_was_asked_for() {
        let server = ResourceServer::new(settings(&[]));
        let metadata = server.metadata("/mcp/sales/orders", &["mcp:call"]);
        assert_eq!(metadata["resource"], "https://mcp.example.com/mcp/sales/orders");
        assert_eq!(metadata["authorization_servers"], json!(["https://id.example.com/"]));
        assert_eq!(metadata["scopes_supported"], json!(["mcp:call"]));
        assert_eq!(server.metadata("", &[])["resource"], "https://mcp.example.com");
    }

    #[test]
    fn metadata_lies_at_both_forms_of_its_path() {
        for (path, resource) in [
            ("/.well-known/oauth-protected-resource", Some("")),
            ("/.well-known/oauth-protected-resource/", Some("")),
            ("/.well-known/oauth-protected-resource/mcp/a/b", Some("/mcp/a/b")),
            ("/.well-known/oauth-protected-resource/mcp/a/b/", Some("/mcp/a/b")),
            ("/.well-known/oauth-protected-resources", None),
            ("/.well-known/oauth-authorization-server", None),
            ("/mcp/a/b/.well-known/oauth-protected-resource", None),
        ] {
            assert_eq!(ResourceServer::metadata_of(path), resource, "{path}");
        }
    }

    #[test]
    fn a_challenge_points_to_the_metadata_and_says_what_was_wrong() {
        let server = ResourceServer::new(settings(&[]));
        let bare = "Bearer realm=\"pinguard\", \
                    resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp/a\", scope=\"mcp:call\"";
        let challenge = |why| server.challenge("/mcp/a", Some("mcp:call"), &why);
        assert_eq!(challenge(Rejected::NoToken(NoToken::NoHeader)), bare, "no error where no token was sent");
        assert_eq!(
            challenge(Rejected::Invalid(Invalid::Expired)),
            format!("{bare}, error=\"invalid_token\", error_description=\"the access token has expired\"")
        );
        assert_eq!(
            server.lacks("/mcp/a", "mcp:call"),
            format!(
                "{bare}, error=\"insufficient_scope\", error_description=\"the access token lacks the scope mcp:call\""
            )
        );
    }
}
