//! The settings of this function, read once at start; every wrong one is reported, by name.

use std::fmt;
use std::sync::Arc;

use oauth::ResourceServer;

use crate::app::Callers;

const CONNECT_TIMEOUT_SECONDS: u32 = 5;
const MOST_SECONDS: u32 = 300;

/// Everything that is set from outside.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `PINGUARD_DATABASE_SECRET`: the secret of nodes without a credential.
    pub default_secret: Option<String>,
    /// `PINGUARD_CONNECT_TIMEOUT_SECONDS`: seconds to a server's first answer.
    pub connect_timeout_seconds: u32,
    /// Secrets of pinguard's own, which no credential may name.
    pub own_secrets: Vec<String>,
    /// `PINGUARD_CREDENTIAL_PREFIX`: what the secrets begin with that credentials made through the API may name;
    /// `{workspace}` in it stands for the workspace.
    pub credential_prefix: Option<String>,
    /// Hosts that requests may be sent to; empty where the front door sees to it.
    pub allowed_hosts: Vec<String>,
    /// `PINGUARD_ALLOWED_ORIGINS`: web origins whose pages may call, besides the public URL's own.
    pub allowed_origins: Vec<String>,
}

/// What a deployment needs beyond [`Settings`].
#[derive(Debug, Clone)]
pub struct Deployment {
    /// How requests are served.
    pub settings: Settings,
    /// `PINGUARD_CONTROL_SECRET`: the id of the secret that holds the control database's URL.
    pub control_secret: String,
    /// `PINGUARD_AUTH` and `PINGUARD_OAUTH_…`: what callers show, keys or access tokens.
    pub callers: Callers,
    /// `PINGUARD_AUDIT_QUEUE_URL`: the queue that feeds the audit function; without one, events go to the log.
    pub audit_queue_url: Option<String>,
}

/// Settings that are wrong or missing, one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the settings cannot be used: {}", self.0.len(), self.0.join("; "))
    }
}

impl std::error::Error for Problems {}

impl Settings {
    /// Whether a credential of this workspace may name this secret.
    pub(crate) fn may_name(&self, workspace: &str, secret: &str) -> bool {
        let prefix = self.credential_prefix.as_deref().unwrap_or_default().replace("{workspace}", workspace);
        let own = self.own_secrets.iter().any(|own| own == secret);
        !own && secret.starts_with(&prefix)
    }
}

impl Deployment {
    /// Reads the settings through `get`.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let text =
            |name: &str| get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let control_secret = text("PINGUARD_CONTROL_SECRET").unwrap_or_default();
        if control_secret.is_empty() {
            problems.push(
                "PINGUARD_CONTROL_SECRET is missing: the id of the secret of the control database".to_owned(),
            );
        }
        let connect_timeout_seconds = match text("PINGUARD_CONNECT_TIMEOUT_SECONDS") {
            None => CONNECT_TIMEOUT_SECONDS,
            Some(value) => {
                let seconds = value.parse().ok().filter(|seconds| (1..=MOST_SECONDS).contains(seconds));
                seconds.unwrap_or_else(|| {
                    problems.push(format!(
                        "PINGUARD_CONNECT_TIMEOUT_SECONDS must be a whole number from 1 to {MOST_SECONDS}, not `{value}`"
                    ));
                    CONNECT_TIMEOUT_SECONDS
                })
            }
        };
        let mut allowed_origins = Vec::new();
        let mut allowed_hosts = Vec::new();
        if let Some(url) = text("PINGUARD_PUBLIC_URL") {
            match origin(&url) {
                Some((origin, host)) => {
                    allowed_origins.push(origin);
                    allowed_hosts.push(host);
                }
                None => problems.push(format!(
                    "PINGUARD_PUBLIC_URL must be a URL such as https://mcp.example.com, not `{url}`"
                )),
            }
        }
        for given in text("PINGUARD_ALLOWED_ORIGINS").unwrap_or_default().split(',').map(str::trim) {
            match origin(given) {
                Some((origin, _)) => allowed_origins.push(origin),
                None if given.is_empty() => {}
                None => problems.push(format!(
                    "PINGUARD_ALLOWED_ORIGINS must be origins such as https://app.example.com, divided by commas, not `{given}`"
                )),
            }
        }
        let own = ["PINGUARD_AUDIT_SECRET", "PINGUARD_STAMP_SECRET", "PINGUARD_CACHE_SECRET"];
        let mut own_secrets: Vec<String> = own.into_iter().filter_map(text).collect();
        own_secrets.push(control_secret.clone());
        let settings = Settings {
            default_secret: text("PINGUARD_DATABASE_SECRET"),
            connect_timeout_seconds,
            own_secrets,
            credential_prefix: text("PINGUARD_CREDENTIAL_PREFIX"),
            allowed_hosts,
            allowed_origins,
        };
        let audit_queue_url = text("PINGUARD_AUDIT_QUEUE_URL");
        let callers = match text("PINGUARD_AUTH").as_deref() {
            None | Some("apikey") => Some(Callers::ApiKeys),
            Some("oauth") => oauth::Settings::read(&get, &mut problems)
                .map(|settings| Callers::Tokens(Arc::new(ResourceServer::new(settings)))),
            Some(mode) => {
                problems.push(format!("PINGUARD_AUTH must be `apikey` or `oauth`, not `{mode}`"));
                None
            }
        };
        match callers {
            Some(callers) if problems.is_empty() => {
                Ok(Self { settings, control_secret, callers, audit_queue_url })
            }
            _ => Err(Problems(problems)),
        }
    }
}

/// The origin and the host of a URL.
fn origin(url: &str) -> Option<(String, String)> {
    let uri: http::Uri = url.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "https" | "http"))?;
    let host = uri.authority()?.as_str();
    Some((format!("{scheme}://{host}"), host.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Deployment, Problems> {
        Deployment::read(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn all_wrong_settings_are_reported_together() {
        let problems = read(&[
            ("PINGUARD_CONNECT_TIMEOUT_SECONDS", "0"),
            ("PINGUARD_PUBLIC_URL", "mcp.example.com"),
            ("PINGUARD_AUTH", "none"),
            ("PINGUARD_ALLOWED_ORIGINS", "https://a.example.com, app.example.com"),
        ]);
        let problems = problems.unwrap_err().to_string();
        for name in ["AUTH", "CONTROL_SECRET", "CONNECT_TIMEOUT_SECONDS", "PUBLIC_URL", "ALLOWED_ORIGINS"] {
            assert!(problems.contains(&format!("PINGUARD_{name} ")), "{name} in {problems}");
        }
    }

    #[test]
    fn a_workspace_names_no_secret_outside_its_prefix_and_none_of_pinguards_own() {
        let own = ("PINGUARD_CONTROL_SECRET", "db/acme/control");
        let settings = read(&[own, ("PINGUARD_CREDENTIAL_PREFIX", "db/{workspace}/")]).unwrap().settings;
        for (secret, may) in [
            ("db/acme/sales", true),
            ("db/other/sales", false),
            ("db/acme", false),
            ("db/acme/control", false),
            ("x/db/acme/sales", false),
        ] {
            assert_eq!(settings.may_name("acme", secret), may, "{secret}");
        }
        let open = read(&[own, ("PINGUARD_STAMP_SECRET", "stamp")]).unwrap().settings;
        assert!(open.may_name("acme", "anything") && !open.may_name("acme", "stamp"));
    }
}
