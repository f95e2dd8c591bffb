//! Where requests may come from: the host that they name, and the page that a browser sends them for.

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;

use crate::answer::Refusal;

/// The hosts and origins of a deployment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Front {
    /// Hosts that requests may be sent to; empty where the front door sees to it.
    pub allowed_hosts: Vec<String>,
    /// `PINGUARD_ALLOWED_ORIGINS`: web origins whose pages may call, besides the public URL's own.
    pub allowed_origins: Vec<String>,
}

impl Front {
    /// Refuses requests that a browser sends for a page which has no business here, also where a name was made to point at
    /// us.
    pub fn admits(&self, parts: &Parts) -> Result<(), Refusal> {
        let is_one_of = |known: &[String], text: &str| known.iter().any(|one| one.eq_ignore_ascii_case(text));
        if let Some(origin) = parts.headers.get(ORIGIN)
            && !is_one_of(&self.allowed_origins, origin.to_str().unwrap_or_default())
        {
            return Err(Refusal::forbidden(
                "pages of this origin may not call; the operator sets those that may",
            ));
        }
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| parts.uri.authority().map(Authority::as_str)).unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let hosts = &self.allowed_hosts;
        if hosts.is_empty() || is_one_of(hosts, host) || is_one_of(hosts, name) {
            return Ok(());
        }
        Err(Refusal::forbidden("this host is not served; the operator sets the public URL"))
    }
}
