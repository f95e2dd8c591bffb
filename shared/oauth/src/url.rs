//! URLs of the settings: where the issuer keeps its keys, and what this server is called from outside.

use http::Uri;
use http::uri::{PathAndQuery, Scheme};

/// Where keys are fetched: by TLS, or in the clear from this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeysUrl {
    pub(crate) transport: Transport,
    /// A name, or an address without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The host and, if it is not the usual one, the port, as a request names them.
    pub(crate) authority: String,
    pub(crate) path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Tls,
    /// To loopback only.
    Clear,
}

/// How callers reach this server, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl KeysUrl {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let uri = absolute(text)?;
        let authority = uri.authority()?;
        if authority.as_str().contains('@') {
            return None;
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let (transport, usual) = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => (Transport::Tls, 443),
            Some(_) if is_loopback(&host) => (Transport::Clear, 80),
            _ => return None,
        };
        Some(Self {
            transport,
            port: authority.port_u16().unwrap_or(usual),
            authority: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", PathAndQuery::as_str).to_owned(),
            host,
        })
    }
}

impl PublicUrl {
    /// Reads a URL such as `https://mcp.example.com`: absolute, without a query; a path before everything is fine.
    pub fn parse(text: &str) -> Option<Self> {
        let uri = absolute(text)?;
        if uri.query().is_some() || text.contains(['"', '\\', '#']) {
            return None;
        }
        Some(Self(text.trim_end_matches('/').to_owned()))
    }

    /// The URL, without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL of a path, which begins with a slash; of the whole server for the empty one.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

/// Whether it is a URL whose answers nobody on the way can change: by TLS, or on this machine.
pub(crate) fn is_trusted(text: &str) -> bool {
    KeysUrl::parse(text).is_some() && !text.contains(['"', '\\', '#', '?'])
}

fn absolute(text: &str) -> Option<Uri> {
    let uri: Uri = text.parse().ok()?;
    let known = matches!(uri.scheme_str()?, "https" | "http");
    (known && !uri.host()?.is_empty()).then_some(uri)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_by_tls_or_from_this_machine() {
        for (text, transport, host, port, path) in [
            ("https://id.example.com/jwks", Transport::Tls, "id.example.com", 443, "/jwks"),
            ("https://id.example.com:8443/a?b=c", Transport::Tls, "id.example.com", 8443, "/a?b=c"),
            ("https://id.example.com", Transport::Tls, "id.example.com", 443, "/"),
            ("http://127.0.0.1:9000/jwks", Transport::Clear, "127.0.0.1", 9000, "/jwks"),
            ("http://[::1]:9000/jwks", Transport::Clear, "::1", 9000, "/jwks"),
            ("http://localhost/jwks", Transport::Clear, "localhost", 80, "/jwks"),
        ] {
            let url = KeysUrl::parse(text).unwrap();
            assert_eq!((url.transport, url.host.as_str(), url.port), (transport, host, port), "{text}");
            assert_eq!(url.path, path, "{text}");
        }
    }

    #[test]
    fn other_places_of_keys_are_refused() {
        for text in [
            "http://id.example.com/jwks",
            "http://10.0.0.1/jwks",
            "http://localhost.example.com/jwks",
            "http://127.0.0.1.example.com/",
            "https://user:secret@id.example.com/jwks",
            "ftp://id.example.com",
            "file:///etc/keys",
            "id.example.com/jwks",
            "/jwks",
            "",
        ] {
            assert_eq!(KeysUrl::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_public_url_loses_its_last_slash() {
        let at = |text: &str| PublicUrl::parse(text).map(|url| url.at("/mcp/f"));
        assert_eq!(at("https://mcp.example.com/").as_deref(), Some("https://mcp.example.com/mcp/f"));
        assert_eq!(at("http://127.0.0.1:8787").as_deref(), Some("http://127.0.0.1:8787/mcp/f"));
        assert_eq!(at("https://example.com/prod").as_deref(), Some("https://example.com/prod/mcp/f"));
        for text in ["mcp.example.com", "https://mcp.example.com/?a", "https://e.com/\"", "ws://e.com", ""] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
