//! The resource server: from an `Authorization` header to a caller.

use std::time::SystemTime;

use thiserror::Error;
use tokio::time::Instant;

use crate::claims::{NoPlace, Verified};
use crate::keys::source::KeySource;
use crate::settings::Settings;
use crate::signature;
use crate::token::{self, Claims, Invalid};

/// Checks tokens; lives as long as the instance, because it keeps the issuer's keys.
#[derive(Debug)]
pub struct ResourceServer {
    pub(crate) settings: Settings,
    keys: KeySource,
}

/// Why a caller is not let in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Rejected {
    /// The header holds no token: 401.
    #[error(transparent)]
    NoToken(#[from] NoToken),
    /// The token does not count: 401.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The token counts and belongs to no workspace: 403.
    #[error(transparent)]
    NoPlace(#[from] NoPlace),
    /// No token can be checked now: 503.
    #[error("the keys of the issuer cannot be fetched now; try again in some seconds")]
    NoKeys,
}

/// Why a header holds no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoToken {
    /// There is no header.
    #[error("send an access token as `Authorization: Bearer …`; `WWW-Authenticate` says where to get one")]
    NoHeader,
    /// Another scheme, or nothing after it.
    #[error("the `Authorization` header must read `Bearer` and an access token")]
    NotBearer,
}

impl ResourceServer {
    /// Nothing is fetched before the first token.
    pub fn new(settings: Settings) -> Self {
        signature::install();
        Self { keys: KeySource::new(settings.keys.clone()), settings }
    }

    /// Checks the token of an `Authorization` header, which is shown at a path of this server. `now` is the time by the
    /// calendar, `deadline` when the answer must be there.
    pub async fn verify(
        &self,
        header: Option<&str>,
        path: &str,
        now: SystemTime,
        deadline: Instant,
    ) -> Result<Verified, Rejected> {
        let token = bearer(header.ok_or(NoToken::NoHeader)?)?;
        let claims = self.signed(token, now, deadline).await?;
        let here = self.settings.public_url.at(path);
        token::counts(&claims, &self.settings.issuer, &[&self.settings.audience, &here], now)?;
        Ok(Verified::new(&self.settings, claims)??)
    }

    /// A key that is not known may be new: then the keys are fetched once more.
    async fn signed(&self, token: &str, now: SystemTime, deadline: Instant) -> Result<Claims, Rejected> {
        let head = token::head(token, &self.settings.algorithms)?;
        let keys = self.keys.keys(now, deadline).await.map_err(|_| Rejected::NoKeys)?;
        match token::signed(token, &head, &keys) {
            Err(Invalid::UnknownKey) => {
                let keys = self.keys.newer_than(&keys, now, deadline).await;
                Ok(token::signed(token, &head, &keys)?)
            }
            found => Ok(found?),
        }
    }
}

/// The scheme in any case, blanks around and between.
fn bearer(header: &str) -> Result<&str, NoToken> {
    let header = header.trim_ascii();
    let (scheme, token) = header.split_once(|c: char| c.is_ascii_whitespace()).ok_or(NoToken::NotBearer)?;
    let token = token.trim_ascii();
    if scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() {
        Ok(token)
    } else {
        Err(NoToken::NotBearer)
    }
}

#[cfg(test)]
mod tests;
