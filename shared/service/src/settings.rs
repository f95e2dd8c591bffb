//! Reads settings, once at start; every wrong one is reported, by name.

use std::fmt;
use std::sync::Arc;

use oauth::ResourceServer;

use crate::callers::Callers;
use crate::front::Front;
use crate::limits::Limits;

/// Settings that are wrong or missing, one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the settings cannot be used: {}", self.0.len(), self.0.join("; "))
    }
}

impl std::error::Error for Problems {}

/// Reads settings by their names, and keeps what is wrong with them.
pub struct Reader<Get> {
    get: Get,
    problems: Vec<String>,
}

impl<Get: Fn(&str) -> Option<String>> Reader<Get> {
    /// Reads through `get`.
    pub fn new(get: Get) -> Self {
        Self { get, problems: Vec::new() }
    }

    /// The settings, if nothing was wrong with any.
    pub fn finish<T>(self, settings: impl FnOnce() -> Option<T>) -> Result<T, Problems> {
        match settings() {
            Some(settings) if self.problems.is_empty() => Ok(settings),
            _ => Err(Problems(self.problems)),
        }
    }

    /// A text; blanks around it do not count, and an empty one is none.
    pub fn text(&self, name: &str) -> Option<String> {
        (self.get)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A text that has to be there.
    pub fn required(&mut self, name: &str, meaning: &str) -> Option<String> {
        let value = self.text(name);
        if value.is_none() {
            self.problems.push(format!("{name} is missing: {meaning}"));
        }
        value
    }

    /// A whole number from 1 to `most`.
    pub fn whole(&mut self, name: &str, most: u64) -> Option<u32> {
        let value = self.text(name)?;
        let number = value.parse::<u32>().ok().filter(|number| (1..=most).contains(&u64::from(*number)));
        if number.is_none() {
            self.problems.push(format!("{name} must be a whole number from 1 to {most}, not `{value}`"));
        }
        number
    }

    /// The same, or 0 for nothing at all.
    pub fn whole_or_none(&mut self, name: &str, most: u64) -> Option<u32> {
        if self.text(name).as_deref() == Some("0") { Some(0) } else { self.whole(name, most) }
    }

    /// Exactly `1` or `true` is on; everything else is off.
    pub fn switch(&self, name: &str) -> bool {
        matches!((self.get)(name).as_deref(), Some("1" | "true"))
    }

    /// The secret of the control database.
    pub fn control_secret(&mut self) -> Option<String> {
        self.required("PINGUARD_CONTROL_SECRET", "the id of the secret of the control database")
    }

    /// The secret of the key of pins' stamps; `Some(None)` while pins are off, and none where it is missing.
    pub fn stamp_secret(&mut self) -> Option<Option<String>> {
        if !self.switch("PINGUARD_PINNED_QUERIES") {
            return Some(None);
        }
        let meaning = "the id of the secret of the stamp key, which PINGUARD_PINNED_QUERIES needs";
        self.required("PINGUARD_STAMP_SECRET", meaning).map(Some)
    }

    /// What callers show, keys or access tokens.
    pub fn callers(&mut self) -> Option<Callers> {
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

    /// The limits of statements.
    pub fn limits(&mut self) -> Limits {
        let limits = self.connecting();
        Limits {
            row_cap: self.whole("PINGUARD_ROW_CAP", Limits::MOST_ROWS).unwrap_or(limits.row_cap),
            max_bytes: self
                .whole("PINGUARD_MAX_BYTES", Limits::MOST_BYTES)
                .map_or(limits.max_bytes, |bytes| bytes as usize),
            timeout_seconds: self
                .whole("PINGUARD_TIMEOUT_SECONDS", Limits::MOST_SECONDS)
                .unwrap_or(limits.timeout_seconds),
            idle_seconds: self
                .whole_or_none("PINGUARD_IDLE_SECONDS", Limits::MOST_SECONDS)
                .unwrap_or(limits.idle_seconds),
            ..limits
        }
    }

    /// What is needed to connect, for a function that runs nobody's statements.
    pub fn connecting(&mut self) -> Limits {
        let limits = Limits::default();
        Limits {
            connect_timeout_seconds: self
                .whole("PINGUARD_CONNECT_TIMEOUT_SECONDS", Limits::MOST_SECONDS)
                .unwrap_or(limits.connect_timeout_seconds),
            default_secret: self.text("PINGUARD_DATABASE_SECRET"),
            ..limits
        }
    }

    /// The public URL and the origins beside its own.
    pub fn front(&mut self) -> Front {
        let mut front = Front::default();
        if let Some(url) = self.text("PINGUARD_PUBLIC_URL") {
            match origin(&url) {
                Some((origin, host)) => {
                    front.allowed_origins.push(origin);
                    front.allowed_hosts.push(host);
                }
                None => self.problems.push(format!(
                    "PINGUARD_PUBLIC_URL must be a URL such as https://mcp.example.com, not `{url}`"
                )),
            }
        }
        let origins = self.text("PINGUARD_ALLOWED_ORIGINS").unwrap_or_default();
        for given in origins.split(',').map(str::trim).filter(|given| !given.is_empty()) {
            match origin(given) {
                Some((origin, _)) => front.allowed_origins.push(origin),
                None => self.problems.push(format!(
                    "PINGUARD_ALLOWED_ORIGINS must be origins such as https://app.example.com, divided by commas, not `{given}`"
                )),
            }
        }
        front
    }
}

/// The origin and the host of a URL.
fn origin(url: &str) -> Option<(String, String)> {
    let uri: http::Uri = url.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "https" | "http"))?;
    let host = uri.authority()?.as_str();
    Some((format!("{scheme}://{host}"), host.to_owned()))
}
