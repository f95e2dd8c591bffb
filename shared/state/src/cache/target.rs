//! The URL of a Valkey or Redis, as its secret holds it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;

use thiserror::Error;

use crate::secrets::SecretText;

/// A Valkey or Redis, alone or a cluster: where it is and how to log in. `Debug` does not show the password.
///
/// `rediss://[user]:password@host[:port][/database][?sslrootcert=…]`; `valkeys`, `redis` and `valkey` are schemes too,
/// the latter two, which do not encrypt, for this machine only. Percent codes are decoded once, after the splitting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheTarget {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: Security,
    pub(super) user: Option<String>,
    pub(super) password: Option<SecretText>,
    pub(super) database: u16,
}

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Security {
    /// Not at all: this machine only.
    Plain,
    /// TLS, verified by Mozilla's CAs.
    Public,
    /// TLS, verified by the CAs of a PEM text alone.
    Pem(String),
    /// TLS, verified by the CAs of a PEM file alone.
    File(PathBuf),
}

/// Why a text is no URL of a cache. No message holds any part of it but the name of an option.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CacheTargetError {
    /// Another scheme, or none.
    #[error(
        "it must begin with `rediss://` or `valkeys://`, or on this machine with `redis://` or `valkey://`"
    )]
    Scheme,
    /// No encryption on a way that others share.
    #[error(
        "without encryption only a cache on this machine is used: write `rediss://` instead of `redis://`"
    )]
    PlainRemote,
    /// A delimiter that splits the URL elsewhere than was meant.
    #[error("a `/` or `?` in user or password must be written as `%2F` or `%3F`")]
    Unencoded,
    /// A `%` without two hexadecimal digits, or bytes that are no text.
    #[error("a `%` must be followed by two hexadecimal digits and the whole be UTF-8; a `%` itself is `%25`")]
    BadPercent,
    /// No host, or something that cannot be one.
    #[error("it has no valid host; an IPv6 address stands in brackets")]
    BadHost,
    /// No port number.
    #[error("the port must be a number from 1 to 65535")]
    BadPort,
    /// A user alone.
    #[error("a user needs a password: write `user:password@`, or `:password@` for the default user")]
    NoPassword,
    /// A path that is no number.
    #[error("the path must be empty or the number of a database, such as `/0`")]
    BadDatabase,
    /// An option that there is not.
    #[error("there is no option `{0}`; the only one is `sslrootcert`, a PEM or the path of one")]
    UnknownOption(String),
    /// An option that contradicts the scheme, or is given twice.
    #[error("`sslrootcert` may stand once, and only where the scheme encrypts")]
    RootOption,
}

impl CacheTarget {
    /// Reads a URL.
    pub fn parse(secret: &str) -> Result<Self, CacheTargetError> {
        let (scheme, rest) = secret.trim().split_once("://").ok_or(CacheTargetError::Scheme)?;
        let encrypted = match scheme.to_ascii_lowercase().as_str() {
            "rediss" | "valkeys" => true,
            "redis" | "valkey" => false,
            _ => return Err(CacheTargetError::Scheme),
        };
        let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        // With a bare `/` or `?` in a password the real host would be behind this `@`.
        if tail.contains('@') {
            return Err(CacheTargetError::Unencoded);
        }
        let (login, endpoint) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (user, password) = (decode(user)?, decode(password)?);
        if password.is_empty() && !user.is_empty() {
            return Err(CacheTargetError::NoPassword);
        }
        let (host, port, loopback) = endpoint_of(endpoint)?;
        if !encrypted && !loopback {
            return Err(CacheTargetError::PlainRemote);
        }
        let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
        Ok(Self {
            host,
            port,
            security: security(encrypted, query)?,
            user: Some(user).filter(|user| !user.is_empty()),
            password: Some(password).filter(|password| !password.is_empty()).map(SecretText),
            database: match path.trim_matches('/') {
                "" => 0,
                number => digits(number).ok_or(CacheTargetError::BadDatabase)?,
            },
        })
    }
}

/// Host, port, and whether that is this machine.
fn endpoint_of(endpoint: &str) -> Result<(String, u16, bool), CacheTargetError> {
    let (host, port) = if let Some(rest) = endpoint.strip_prefix('[') {
        let (address, after) = rest.split_once(']').ok_or(CacheTargetError::BadHost)?;
        let address: Ipv6Addr = address.parse().map_err(|_| CacheTargetError::BadHost)?;
        let port = if after.is_empty() { Some("") } else { after.strip_prefix(':') };
        (address.to_string(), port.ok_or(CacheTargetError::BadHost)?)
    } else {
        let (host, port) = endpoint.split_once(':').unwrap_or((endpoint, ""));
        (host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(), port)
    };
    let port = match port {
        "" => 6379,
        port => digits(port).filter(|&port| port > 0).ok_or(CacheTargetError::BadPort)?,
    };
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok((host, port, address.to_canonical().is_loopback()));
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    if host.len() > 253 || !host.split('.').all(label) {
        return Err(CacheTargetError::BadHost);
    }
    let loopback = host == "localhost";
    Ok((host, port, loopback))
}

fn security(encrypted: bool, query: &str) -> Result<Security, CacheTargetError> {
    let mut roots = None;
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match decode(name)?.as_str() {
            "sslrootcert" if encrypted && roots.is_none() && !value.is_empty() => {
                roots = Some(decode(value)?);
            }
            "sslrootcert" => return Err(CacheTargetError::RootOption),
            name => return Err(CacheTargetError::UnknownOption(name.to_owned())),
        }
    }
    Ok(match roots {
        None if encrypted => Security::Public,
        None => Security::Plain,
        Some(text) if text.contains("-----BEGIN") => Security::Pem(text),
        Some(path) => Security::File(path.into()),
    })
}

/// A number without a sign.
fn digits(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn decode(text: &str) -> Result<String, CacheTargetError> {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2).ok_or(CacheTargetError::BadPercent)?;
        // `from_str_radix` takes a sign.
        if !code.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(CacheTargetError::BadPercent);
        }
        decoded.push(u8::from_str_radix(code, 16).map_err(|_| CacheTargetError::BadPercent)?);
        decoded.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(decoded).map_err(|_| CacheTargetError::BadPercent)
}

impl fmt::Display for CacheTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(url: &str, user: Option<&str>, password: Option<&str>, endpoint: &str) -> CacheTarget {
        let target = CacheTarget::parse(url).unwrap();
        assert_eq!(target.user.as_deref(), user);
        assert_eq!(target.password.as_deref(), password);
        assert_eq!(target.to_string(), endpoint);
        assert!(!format!("{target:?}").contains("secretword"));
        target
    }

    #[track_caller]
    fn refused(url: &str, error: &CacheTargetError) {
        assert_eq!(CacheTarget::parse(url).unwrap_err(), *error, "{url}");
        assert!(!error.to_string().contains("secretword"));
    }

    #[test]
    fn the_usual_forms_are_understood() {
        check("rediss://:secretword@h", None, Some("secretword"), "h:6379");
        check(" rediss://u:secretword@H.Example:6380/\n", Some("u"), Some("secretword"), "h.example:6380");
        check("valkeys://u:a@b#c@h", Some("u"), Some("a@b#c"), "h:6379");
        check("rediss://u:a%2Fb%3F%25@h", Some("u"), Some("a/b?%"), "h:6379");
        assert_eq!(check("redis://localhost:1/3", None, None, "localhost:1").database, 3);
        assert_eq!(check("valkey://127.0.0.1", None, None, "127.0.0.1:6379").security, Security::Plain);
        assert_eq!(check("redis://[::1]:7", None, None, "::1:7").security, Security::Plain);
    }

    #[test]
    fn a_private_ca_is_a_pem_or_a_path() {
        let security = |url| CacheTarget::parse(url).unwrap().security;
        assert_eq!(security("rediss://h"), Security::Public);
        assert_eq!(security("rediss://h?sslrootcert=/etc/ca.pem"), Security::File("/etc/ca.pem".into()));
        let pem = security("rediss://h/0?sslrootcert=-----BEGIN%20CERTIFICATE-----%0Aabc%3D");
        assert_eq!(pem, Security::Pem("-----BEGIN CERTIFICATE-----\nabc=".into()));
    }

    #[test]
    fn without_encryption_only_this_machine_is_reached() {
        for url in ["redis://h", "valkey://10.0.0.1", "redis://:p@localhost.evil.com", "redis://[::2]"] {
            refused(url, &CacheTargetError::PlainRemote);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        refused("", &CacheTargetError::Scheme);
        refused("localhost:6379", &CacheTargetError::Scheme);
        refused("postgres://u:secretword@h", &CacheTargetError::Scheme);
        refused("rediss://:secret/word@h", &CacheTargetError::Unencoded);
        refused("rediss://:secretword%@h", &CacheTargetError::BadPercent);
        refused("rediss://:secretword%+1@h", &CacheTargetError::BadPercent);
        refused("rediss://:%ff@h", &CacheTargetError::BadPercent);
        refused("rediss://:secretword@", &CacheTargetError::BadHost);
        refused("rediss://:secretword@::1", &CacheTargetError::BadPort);
        refused("rediss://:secretword@[h]", &CacheTargetError::BadHost);
        refused("rediss://:secretword@a,b", &CacheTargetError::BadHost);
        refused("rediss://:secretword@h:0", &CacheTargetError::BadPort);
        refused("rediss://:secretword@h:+1", &CacheTargetError::BadPort);
        refused("rediss://secretword@h", &CacheTargetError::NoPassword);
        refused("rediss://h/db", &CacheTargetError::BadDatabase);
        refused("rediss://h?protocol=3", &CacheTargetError::UnknownOption("protocol".into()));
        refused("rediss://h?sslrootcert=", &CacheTargetError::RootOption);
        refused("redis://localhost?sslrootcert=/x", &CacheTargetError::RootOption);
        refused("rediss://h?sslrootcert=/x&sslrootcert=/y", &CacheTargetError::RootOption);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", scheme in "(rediss://)?") {
            let _ = CacheTarget::parse(&(scheme + &text));
        }

        #[test]
        fn every_encoded_password_comes_back(password in ".{1,20}") {
            let encoded = password.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02x}"));
            let target = CacheTarget::parse(&format!("rediss://:{encoded}@h")).unwrap();
            prop_assert_eq!(target.password.as_deref(), Some(password.as_str()));
        }
    }
}
