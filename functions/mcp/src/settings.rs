//! The settings of this function, read once at start; every wrong one is reported, by name.

use service::{Callers, Front, Limits, Problems, Reader};

/// Everything that is set from outside.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What nodes and callers may only lower.
    pub limits: Limits,
    /// `PINGUARD_TRACE_PREVIEW`: whether call records hold a preview of the statement.
    pub trace_preview: bool,
    /// Where requests may come from.
    pub front: Front,
}

/// What a deployment needs beyond [`Settings`]: where the control database is.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// How calls are served.
    pub settings: Settings,
    /// `PINGUARD_CONTROL_SECRET`: the id of the secret that holds the control database's URL.
    pub control_secret: String,
    /// `PINGUARD_CACHE_SECRET`: the id of the secret that holds the URL of a Valkey or Redis; none: a table of the control
    /// database.
    pub cache_secret: Option<String>,
    /// `PINGUARD_STAMP_SECRET`: the id of the secret that holds the key of pins' stamps; none while
    /// `PINGUARD_PINNED_QUERIES` does not turn pins on.
    pub stamp_secret: Option<String>,
    /// `PINGUARD_AUTH` and `PINGUARD_OAUTH_…`: what callers show, keys or access tokens.
    pub callers: Callers,
}

impl Deployment {
    /// Reads the settings through `get`.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        let mut reader = Reader::new(get);
        let settings = Settings {
            limits: reader.limits(),
            trace_preview: reader.switch("PINGUARD_TRACE_PREVIEW"),
            front: reader.front(),
        };
        let callers = reader.callers();
        let control_secret = reader.control_secret();
        let cache_secret = reader.text("PINGUARD_CACHE_SECRET");
        let stamp_secret = reader.stamp_secret();
        reader.finish(|| {
            Some(Self {
                settings,
                control_secret: control_secret?,
                cache_secret,
                stamp_secret: stamp_secret?,
                callers: callers?,
            })
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
            ("PINGUARD_ROW_CAP", "10001"),
            ("PINGUARD_MAX_BYTES", "many"),
            ("PINGUARD_TIMEOUT_SECONDS", "0"),
            ("PINGUARD_AUTH", "none"),
            ("PINGUARD_PUBLIC_URL", "mcp.example.com"),
            ("PINGUARD_ALLOWED_ORIGINS", "app.example.com"),
        ])
        .unwrap_err()
        .to_string();
        for name in [
            "ROW_CAP",
            "MAX_BYTES",
            "TIMEOUT_SECONDS",
            "AUTH",
            "PUBLIC_URL",
            "ALLOWED_ORIGINS",
            "CONTROL_SECRET",
        ] {
            assert!(problems.contains(&format!("PINGUARD_{name} ")), "{name} in {problems}");
        }
    }

    #[test]
    fn only_two_values_turn_the_preview_on() {
        for (value, on) in
            [("1", true), ("true", true), ("TRUE", false), ("yes", false), ("on", false), ("", false)]
        {
            let deployment =
                read(&[("PINGUARD_CONTROL_SECRET", "c"), ("PINGUARD_TRACE_PREVIEW", value)]).unwrap();
            assert_eq!(deployment.settings.trace_preview, on, "{value}");
        }
    }

    #[test]
    fn pins_are_on_by_two_values_and_need_their_key() {
        let with = |value: &str, secret: &str| {
            read(&[
                ("PINGUARD_CONTROL_SECRET", "c"),
                ("PINGUARD_PINNED_QUERIES", value),
                ("PINGUARD_STAMP_SECRET", secret),
            ])
        };
        for value in ["1", "true"] {
            assert_eq!(with(value, "stamps").unwrap().stamp_secret.as_deref(), Some("stamps"));
            let problems = with(value, "").unwrap_err().to_string();
            assert!(problems.contains("PINGUARD_STAMP_SECRET is missing"), "{problems}");
        }
        for value in ["", "yes", "on", "TRUE", "True", "false", "0", " 1", "2"] {
            assert_eq!(with(value, "stamps").unwrap().stamp_secret, None, "{value}");
        }
    }

    #[test]
    fn the_public_url_names_host_and_origin() {
        let deployment =
            read(&[("PINGUARD_CONTROL_SECRET", "c"), ("PINGUARD_PUBLIC_URL", "https://mcp.example.com/")])
                .unwrap();
        assert_eq!(deployment.settings.front.allowed_hosts, ["mcp.example.com"]);
        assert_eq!(deployment.settings.front.allowed_origins, ["https://mcp.example.com"]);
    }
}
