//! The settings of this function, read once at start; every wrong one is reported, by name.

use service::{Callers, Front, Limits, Problems, Reader};

/// Everything that is set from outside.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What is needed to connect.
    pub limits: Limits,
    /// Secrets of pinguard's own, which no credential may name.
    pub own_secrets: Vec<String>,
    /// `PINGUARD_CREDENTIAL_PREFIX`: what the secrets begin with that credentials made through the API may name;
    /// `{workspace}` in it stands for the workspace.
    pub credential_prefix: Option<String>,
    /// Where requests may come from.
    pub front: Front,
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
        let mut reader = Reader::new(get);
        let control_secret = reader.control_secret();
        let own = ["PINGUARD_AUDIT_SECRET", "PINGUARD_STAMP_SECRET", "PINGUARD_CACHE_SECRET"];
        let own_secrets = own.into_iter().filter_map(|name| reader.text(name)).chain(control_secret.clone());
        let settings = Settings {
            own_secrets: own_secrets.collect(),
            limits: reader.connecting(),
            credential_prefix: reader.text("PINGUARD_CREDENTIAL_PREFIX"),
            front: reader.front(),
        };
        let audit_queue_url = reader.text("PINGUARD_AUDIT_QUEUE_URL");
        let callers = reader.callers();
        reader.finish(|| {
            Some(Self { settings, control_secret: control_secret?, callers: callers?, audit_queue_url })
        })
    }
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
