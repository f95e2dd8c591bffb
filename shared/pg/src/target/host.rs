//! A host: a name or an address, and whether it is this machine.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use super::TargetError;

/// A host name or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, in lower case, to be looked up.
    Name(String),
    /// An address as it stands in the secret.
    Ip(IpAddr),
}

impl Host {
    /// Takes a name or an address, the latter without brackets.
    pub(super) fn parse(text: &str) -> Result<Self, TargetError> {
        if text.starts_with(['/', '@']) {
            return Err(TargetError::UnixSocket);
        }
        if text.contains(',') {
            return Err(TargetError::SeveralHosts);
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Ip(address.to_canonical()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        if name.len() <= 253 && name.split('.').all(label) {
            Ok(Self::Name(name))
        } else {
            Err(TargetError::BadHost)
        }
    }

    /// Takes an IPv6 address that stood in brackets.
    pub(super) fn parse_bracketed(text: &str) -> Result<Self, TargetError> {
        let address: Ipv6Addr = text.parse().map_err(|_| TargetError::BadHost)?;
        Ok(Self::Ip(IpAddr::V6(address).to_canonical()))
    }

    /// Whether the host is this machine: `localhost`, `127.0.0.0/8`, `::1`.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Ip(address) => address.is_loopback(),
        }
    }

    /// The region in a name that Amazon RDS gives, such as `shop.abc123.eu-west-1.rds.amazonaws.com`.
    pub(super) fn rds_region(&self) -> Option<&str> {
        let Self::Name(name) = self else { return None };
        name.strip_suffix(".rds.amazonaws.com")?.rsplit_once('.').map(|(_, region)| region)
    }

    /// Whether the name lies under one of these domains.
    pub(crate) fn is_under(&self, domains: &[&str]) -> bool {
        let Self::Name(name) = self else { return false };
        domains.iter().any(|domain| name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(IpAddr::V4(address)) => address.fmt(f),
            Self::Ip(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_decided_on_the_whole_host() {
        let loopback = |text| Host::parse(text).unwrap().is_loopback();
        for text in
            ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
        {
            assert!(loopback(text), "{text}");
        }
        for text in ["localhost.evil.com", "127.0.0.1.evil.com", "128.0.0.1", "::2", "127.1", "notlocalhost"]
        {
            assert!(!loopback(text), "{text}");
        }
    }

    #[test]
    fn a_domain_matches_at_a_dot_only() {
        let under = |text| Host::parse(text).unwrap().is_under(&["rds.amazonaws.com"]);
        assert!(under("x.eu-west-1.rds.amazonaws.com"));
        assert!(!under("evilrds.amazonaws.com"));
        assert!(!under("rds.amazonaws.com"));
        assert!(!under("x.rds.amazonaws.com.evil.com"));
    }

    #[test]
    fn the_names_of_rds_hold_their_region() {
        let region = |text| Host::parse(text).unwrap().rds_region().map(str::to_owned);
        for text in ["shop.abc.eu-west-1.rds.amazonaws.com", "shop.proxy-abc.eu-west-1.rds.amazonaws.com."] {
            assert_eq!(region(text).as_deref(), Some("eu-west-1"), "{text}");
        }
        for text in
            ["db.example.com", "eu-west-1.rds.amazonaws.com", "a.eu-west-1.rds.amazonaws.com.evil.com"]
        {
            assert_eq!(region(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        assert_eq!(Host::parse("/var/run/postgresql"), Err(TargetError::UnixSocket));
        assert_eq!(Host::parse("a,b"), Err(TargetError::SeveralHosts));
        for text in ["a b", "a:5432", "a..b", "-\u{e4}", "fe80::1%eth0", ".", ""] {
            assert_eq!(Host::parse(text), Err(TargetError::BadHost), "{text}");
        }
    }
}
