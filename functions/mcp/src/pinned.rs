//! Which pins agents may call: those that stand as they were tested, while the deployment has pins on.

use analyst::{Failure, Kind};
use pins::{Pin, StampKey, StampState};
use state::Node;
use tokio::time::Instant;

use crate::app::App;
use crate::tools::Work;

impl App {
    /// The key that stamps are verified with.
    pub(crate) async fn stamp_key(&self, deadline: Instant) -> Result<StampKey, Failure> {
        let Some(keys) = &self.stamp_keys else {
            let failure = Failure::new(Kind::Refusal, "pins_off", "pinned queries are turned off here");
            return Err(failure.hinting("the operator turns them on with PINGUARD_PINNED_QUERIES"));
        };
        keys.key(deadline).await.map_err(|error| {
            Failure::new(Kind::Plumbing, error.code(), error.to_string()).hinting(error.hint())
        })
    }

    /// The pins of a node that agents may call; none where that cannot be found out, which is logged.
    pub(crate) async fn standing<'a>(
        &self,
        node: &'a Node,
        scope: &pins::Scope,
        deadline: Instant,
    ) -> Vec<&'a Pin> {
        if node.pins.is_empty() || self.stamp_keys.is_none() {
            return Vec::new();
        }
        match self.stamp_key(deadline).await {
            Ok(key) => node.pins.iter().filter(|pin| verify(pin, &key, scope).is_ok()).collect(),
            Err(failure) => {
                tracing::error!(code = %failure.code, reason = %failure.message, "no pin can be offered");
                Vec::new()
            }
        }
    }
}

impl Work<'_> {
    /// Refuses a pin that does not stand as it was tested, or while pins are off.
    pub(crate) async fn verify(&self, pin: &Pin) -> Result<(), Failure> {
        verify(pin, &self.app.stamp_key(self.latest).await?, &self.stamp_scope())
    }
}

/// Refuses a pin that does not stand as it was tested.
fn verify(pin: &Pin, key: &StampKey, scope: &pins::Scope) -> Result<(), Failure> {
    let (code, what) = match pin.verify(key, scope) {
        StampState::Verified => return Ok(()),
        StampState::Missing => ("pin_not_tested", "was never tested"),
        StampState::Mismatch => {
            ("pin_changed", "is not what was tested: it, its node or the stamp key has changed")
        }
    };
    let failure =
        Failure::new(Kind::Refusal, code, format!("the pinned query `{}` {what}", pin.name().as_str()));
    Err(failure.hinting("its owner has to test it in the editor and publish the flow"))
}
