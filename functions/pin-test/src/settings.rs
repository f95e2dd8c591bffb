//! The settings of this function, read once at start; every wrong one is reported, by name.

use service::{Callers, Front, Limits, Problems, Reader};

/// Everything that is set from outside.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What nodes may only lower: the same as for agents' calls.
    pub limits: Limits,
    /// Where requests may come from.
    pub front: Front,
}

/// What a deployment needs beyond [`Settings`].
#[derive(Debug, Clone)]
pub struct Deployment {
    /// How tests are run.
    pub settings: Settings,
    /// `PINGUARD_CONTROL_SECRET`: the id of the secret that holds the control database's URL.
    pub control_secret: String,
    /// `PINGUARD_STAMP_SECRET`: the id of the secret that holds the key of stamps; none while `PINGUARD_PINNED_QUERIES` does
    /// not turn pins on.
    pub stamp_secret: Option<String>,
    /// `PINGUARD_AUTH` and `PINGUARD_OAUTH_…`: what callers show, keys or access tokens.
    pub callers: Callers,
    /// `PINGUARD_AUDIT_QUEUE_URL`: the queue that feeds the audit function; without one, events go to the log.
    pub audit_queue_url: Option<String>,
}

impl Deployment {
    /// Reads the settings through `get`.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        let mut reader = Reader::new(get);
        let settings = Settings { limits: reader.limits(), front: reader.front() };
        let control_secret = reader.control_secret();
        let stamp_secret = reader.stamp_secret();
        let callers = reader.callers();
        let audit_queue_url = reader.text("PINGUARD_AUDIT_QUEUE_URL");
        reader.finish(|| {
            Some(Self {
                settings,
                control_secret: control_secret?,
                stamp_secret: stamp_secret?,
                callers: callers?,
                audit_queue_url,
            })
        })
    }
}
