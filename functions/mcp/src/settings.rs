//! The settings of this function, read once at start; every wrong one is reported, by name.

use std::fmt;
use std::sync::Arc;

use oauth::ResourceServer;
use service::Limits;

use crate::app::Callers;

/// Everything that is set from outside.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What nodes and callers may only lower.
    pub limits: Limits,
    /// `PINGUARD_TRACE_PREVIEW`: whether call records hold a preview of the statement.
    pub trace_preview: bool,
    /// Hosts that requests may be sent to; empty where the front door sees to it.
    pub allowed_hosts: Vec<String>,
    /// `PINGUARD_ALLOWED_ORIGINS`: web origins whose pages may call, besides the public URL's own.
    pub allowed_origins: Vec<String>,
}

/// What a deployment needs beyond [`Settings`]: where the control database is.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// How calls are served.
    pub settings: Settings,
    /// `PINGUARD_CONTROL_SECRET`: the id of the secret that holds the control database's URL.
    pub control_secret: String,
    /// `PINGUARD_STAMP_SECRET`: the id of the secret that holds the key of pins' stamps; none while
    /// `PINGUARD_PINNED_QUERIES` does not turn pins on.
    pub stamp_secret: Option<String>,
    /// `PINGUARD_AUTH` and `PINGUARD_OAUTH_…`: what callers show, keys or access tokens.
    pub callers: Callers,
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

impl Deployment {
    /// Reads the settings through `get`.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        let mut reader = Reader { get, problems: Vec::new() };
        let defaults = Limits::default();
        let public_url = reader.public_url();
        let mut allowed_origins = reader.origins();
        allowed_origins.extend(public_url.as_ref().map(|url| url.origin.clone()));
        let limits = Limits {
            row_cap: reader.whole("PINGUARD_ROW_CAP", Limits::MOST_ROWS).unwrap_or(defaults.row_cap),
            max_bytes: reader
                .whole("PINGUARD_MAX_BYTES", Limits::MOST_BYTES)
                .map_or(defaults.max_bytes, |bytes| bytes as usize),
            timeout_seconds: reader
                .whole("PINGUARD_TIMEOUT_SECONDS", Limits::MOST_SECONDS)
                .unwrap_or(defaults.timeout_seconds),
            connect_timeout_seconds: reader
                .whole("PINGUARD_CONNECT_TIMEOUT_SECONDS", Limits::MOST_SECONDS)
                .unwrap_or(defaults.connect_timeout_seconds),
            default_secret: reader.text("PINGUARD_DATABASE_SECRET"),
            value_chars: defaults.value_chars,
        };
        let settings = Settings {
            limits,
            trace_preview: reader.switch("PINGUARD_TRACE_PREVIEW"),
            allowed_hosts: public_url.into_iter().map(|url| url.host).collect(),
            allowed_origins,
        };
        let callers = reader.callers();
        let control_secret =
            reader.required("PINGUARD_CONTROL_SECRET", "the id of the secret of the control database");
        let stamp_secret = reader.switch("PINGUARD_PINNED_QUERIES").then(|| {
            let meaning = "the id of the secret of the stamp key, which PINGUARD_PINNED_QUERIES needs";
            reader.required("PINGUARD_STAMP_SECRET", meaning)
        });
        match (control_secret, callers, reader.problems.is_empty()) {
            (Some(control_secret), Some(callers), true) => {
                Ok(Self { settings, control_secret, stamp_secret: stamp_secret.flatten(), callers })
            }
            _ => Err(Problems(reader.problems)),
        }
    }
}

struct Reader<Get> {
    get: Get,
    problems: Vec<String>,
}

struct PublicUrl {
    host: String,
    origin: String,
}

impl<Get: Fn(&str) -> Option<String>> Reader<Get> {
    fn text(&self, name: &str) -> Option<String> {
        (self.get)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn required(&mut self, name: &str, meaning: &str) -> Option<String> {
        let value = self.text(name);
        if value.is_none() {
            self.problems.push(format!("{name} is missing: {meaning}"));
        }
        value
    }

    fn whole(&mut self, name: &str, most: u64) -> Option<u32> {
        let value = self.text(name)?;
        let number = value.parse::<u32>().ok().filter(|number| (1..=most).contains(&u64::from(*number)));
        if number.is_none() {
            self.problems.push(format!("{name} must be a whole number from 1 to {most}, not `{value}`"));
        }
        number
    }

    /// Exactly `1` or `true` is on; everything else is off.
    fn switch(&self, name: &str) -> bool {
        matches!((self.get)(name).as_deref(), Some("1" | "true"))
    }

    fn callers(&mut self) -> Option<Callers> {
        match self.text("PINGUARD_AUTH").as_deref() {
            None | Some("apikey") => Some(Callers::ApiKeys),
            Some("oauth") => {
                let settings = oauth::Settings::read(&self.get, &mut self.problems)?;
                Some(Callers::Tokens(Arc::new(ResourceServer::new(settings))))
            }
            Some(mode) => {
                self.problems.push(format!("PINGUARD_AUTH must be `apikey` or `oauth`, not `{mode}`"));
                None
            }
        }
    }

    fn public_url(&mut self) -> Option<PublicUrl> {
        let value = self.text("PINGUARD_PUBLIC_URL")?;
        let parsed = value.parse::<http::Uri>().ok().and_then(|uri| {
            let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "https" | "http"))?;
            let authority = uri.authority()?.as_str();
            Some(PublicUrl { host: authority.to_owned(), origin: format!("{scheme}://{authority}") })
        });
        if parsed.is_none() {
            let problem =
                format!("PINGUARD_PUBLIC_URL must be a URL such as https://mcp.example.com, not `{value}`");
            self.problems.push(problem);
        }
        parsed
    }

    fn origins(&mut self) -> Vec<String> {
        let value = self.text("PINGUARD_ALLOWED_ORIGINS").unwrap_or_default();
        let origins: Vec<String> = value
            .split(',')
            .map(|origin| origin.trim().trim_end_matches('/').to_owned())
            .filter(|o| !o.is_empty())
            .collect();
        for origin in &origins {
            if !origin.starts_with("https://") && !origin.starts_with("http://") {
                self.problems.push(format!(
                    "PINGUARD_ALLOWED_ORIGINS must be origins such as https://app.example.com, divided by commas, not `{origin}`"
                ));
            }
        }
        origins
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
        assert_eq!(deployment.settings.allowed_hosts, ["mcp.example.com"]);
        assert_eq!(deployment.settings.allowed_origins, ["https://mcp.example.com"]);
    }
}
