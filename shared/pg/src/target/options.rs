//! The options of a secret: understood, ignored because harmless, or refused by name.

use std::time::Duration;

use super::host::Host;
use super::{ChannelBinding, TargetError};
use crate::tls::{Roots, TlsMode};

/// What the options of a secret come to.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) tls_mode: TlsMode,
    pub(super) roots: Roots,
    pub(super) channel_binding: ChannelBinding,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) login_by: LoginBy,
    pub(super) ignored: Vec<String>,
}

/// What the login proves itself with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LoginBy {
    /// The secret's password.
    Password,
    /// A token that AWS's IAM vouches for, made for each connection in this region.
    RdsToken { region: Option<String> },
}

/// Options that are refused, with what to do instead.
const REFUSED: &[(&str, &str)] = &[
    (
        "options",
        "startup parameters break behind poolers; remove it, the node's settings cover search path and timeouts",
    ),
    ("hostaddr", "name the address as `host`"),
    ("service", "service files are not read, write host, user and password out"),
    ("servicefile", "service files are not read, write host, user and password out"),
    ("passfile", "password files are not read, write the password into the secret"),
    ("replication", "replication connections run no statements, remove it"),
    ("sslcert", "client certificates are not supported, use a password"),
    ("sslkey", "client certificates are not supported, use a password"),
    ("sslpassword", "client certificates are not supported, use a password"),
    ("sslcrl", "revocation lists are not supported, remove it"),
    ("sslcrldir", "revocation lists are not supported, remove it"),
    ("require_auth", "use `channel_binding=require` to insist on SCRAM"),
];

/// Options that libpq knows, that change nothing here, and that say nothing worth a warning.
const SILENT: &[&str] = &["application_name", "fallback_application_name"];

/// Harmless options whose names look as if they were about security.
const HARMLESS: &[(&str, &[&str])] = &[
    ("gssencmode", &["disable", "prefer"]),
    ("krbsrvname", &[]),
    ("gsslib", &[]),
    ("gssdelegation", &["0"]),
    ("ssl", &["true", "1", "require", "verify-full"]),
    ("sslaccept", &["strict"]),
    ("sslcertmode", &["disable", "allow"]),
    ("sslcompression", &["0"]),
    ("sslsni", &["1"]),
    // The handshake that every server knows is used in both cases.
    ("sslnegotiation", &["postgres", "direct"]),
    ("ssl_min_protocol_version", &["TLSv1", "TLSv1.1", "TLSv1.2"]),
    ("client_encoding", &["auto", "UTF8", "utf8", "UTF-8", "utf-8"]),
];

/// Parts of names that may stand for weaker TLS, another login or session settings.
const SUSPICIOUS: &[&str] = &[
    "ssl", "tls", "cert", "verif", "auth", "bind", "option", "encrypt", "secure", "trust", "gss", "krb",
    "encoding",
];

impl Options {
    pub(super) fn parse(given: Vec<(String, String)>, host: &Host) -> Result<Self, TargetError> {
        let mut seen: Vec<String> = Vec::new();
        let mut sslmode = None;
        let mut root = None;
        let mut channel_binding = ChannelBinding::Prefer;
        let mut connect_timeout = None;
        let mut login_by = LoginBy::Password;
        let mut region = None;
        let mut ignored = Vec::new();
        for (name, value) in given {
            if seen.contains(&name) {
                return Err(TargetError::Twice(printable(&name)));
            }
            match name.as_str() {
                "sslmode" => sslmode = Some(parse_sslmode(&value)?),
                "sslrootcert" => root = Some(parse_root(&value)?),
                "channel_binding" => channel_binding = parse_binding(&value)?,
                "connect_timeout" => connect_timeout = parse_timeout(&value)?,
                "auth" => login_by = parse_auth(&value)?,
                "region" => region = Some(value),
                _ => {
                    refuse_unsafe(&name, &value)?;
                    if !SILENT.contains(&name.as_str()) {
                        ignored.push(name.clone());
                    }
                }
            }
            seen.push(name);
        }
        if root == Some(Roots::Public) && sslmode.is_some_and(|mode| mode != SslMode::VerifyFull) {
            return Err(TargetError::OptionValue {
                name: "sslmode",
                accepted: "nothing but `verify-full` together with `sslrootcert=system`",
            });
        }
        match &mut login_by {
            LoginBy::RdsToken { region: named } => *named = region.map(parse_region).transpose()?,
            // It says something of tokens alone.
            LoginBy::Password => ignored.extend(region.map(|_| "region".to_owned())),
        }
        let tls_mode = match (&login_by, sslmode) {
            (LoginBy::RdsToken { .. }, None) => TlsMode::VerifyFull,
            _ => tls_mode(sslmode, root.is_some(), host),
        };
        if login_by != LoginBy::Password && !matches!(tls_mode, TlsMode::VerifyCa | TlsMode::VerifyFull) {
            return Err(TargetError::OptionValue {
                name: "sslmode",
                accepted: "`verify-full` or `verify-ca` together with `auth=rds-iam`: whoever reads a token can log in with it",
            });
        }
        if tls_mode == TlsMode::Plain && channel_binding == ChannelBinding::Require {
            return Err(TargetError::BindingWithoutTls);
        }
        let roots = root.unwrap_or_else(|| Roots::of(host));
        Ok(Self { tls_mode, roots, channel_binding, connect_timeout, login_by, ignored })
    }

    pub(super) fn warnings(&self, host: &Host) -> Vec<String> {
        let mut warnings = Vec::new();
        if !host.is_loopback() {
            match self.tls_mode {
                TlsMode::Plain | TlsMode::PlainIfNotOffered => warnings.push(
                    "the connection is not encrypted: `sslmode=disable`; use `sslmode=verify-full`".to_owned(),
                ),
                TlsMode::Encrypt => warnings.push(
                    "the server's certificate is not verified: `sslmode` is `allow`, `prefer` or `require`; use `sslmode=verify-full`"
                        .to_owned(),
                ),
                TlsMode::VerifyCa | TlsMode::VerifyFull => {}
            }
        }
        if !self.ignored.is_empty() {
            warnings
                .push(format!("options of the secret that do nothing here: `{}`", self.ignored.join("`, `")));
        }
        warnings
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SslMode {
    Disable,
    AllowOrPrefer,
    Require,
    VerifyCa,
    VerifyFull,
}

fn parse_sslmode(value: &str) -> Result<SslMode, TargetError> {
    match value {
        "disable" => Ok(SslMode::Disable),
        "allow" | "prefer" => Ok(SslMode::AllowOrPrefer),
        "require" => Ok(SslMode::Require),
        "verify-ca" => Ok(SslMode::VerifyCa),
        "verify-full" => Ok(SslMode::VerifyFull),
        _ => Err(TargetError::OptionValue {
            name: "sslmode",
            accepted: "`disable`, `allow`, `prefer`, `require`, `verify-ca` or `verify-full`",
        }),
    }
}

/// Plaintext is reached off loopback by `disable` alone.
fn tls_mode(sslmode: Option<SslMode>, has_root: bool, host: &Host) -> TlsMode {
    match sslmode {
        Some(SslMode::Disable) => TlsMode::Plain,
        Some(SslMode::VerifyCa) => TlsMode::VerifyCa,
        // As libpq has it: a given CA is checked against.
        Some(SslMode::AllowOrPrefer | SslMode::Require) if has_root => TlsMode::VerifyCa,
        Some(SslMode::AllowOrPrefer) if host.is_loopback() => TlsMode::PlainIfNotOffered,
        Some(SslMode::AllowOrPrefer | SslMode::Require) => TlsMode::Encrypt,
        None if host.is_loopback() && !has_root => TlsMode::PlainIfNotOffered,
        Some(SslMode::VerifyFull) | None => TlsMode::VerifyFull,
    }
}

fn parse_auth(value: &str) -> Result<LoginBy, TargetError> {
    match value {
        "password" => Ok(LoginBy::Password),
        "rds-iam" => Ok(LoginBy::RdsToken { region: None }),
        _ => Err(TargetError::OptionValue { name: "auth", accepted: "`password` or `rds-iam`" }),
    }
}

fn parse_region(name: String) -> Result<String, TargetError> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=32).contains(&name.len()) && name.bytes().all(letter) {
        Ok(name)
    } else {
        Err(TargetError::OptionValue { name: "region", accepted: "a region of AWS such as `eu-west-1`" })
    }
}

fn parse_root(value: &str) -> Result<Roots, TargetError> {
    if value.is_empty() {
        return Err(TargetError::OptionValue {
            name: "sslrootcert",
            accepted: "a PEM text, the path of a PEM file, or `system`",
        });
    }
    Ok(if value == "system" {
        Roots::Public
    } else if value.contains("-----BEGIN") {
        // Secrets are often kept on one line, with the line breaks written out.
        Roots::Pem(value.replace("\\n", "\n"))
    } else {
        Roots::File(value.into())
    })
}

fn parse_binding(value: &str) -> Result<ChannelBinding, TargetError> {
    match value {
        "disable" => Ok(ChannelBinding::Disable),
        "prefer" => Ok(ChannelBinding::Prefer),
        "require" => Ok(ChannelBinding::Require),
        _ => Err(TargetError::OptionValue {
            name: "channel_binding",
            accepted: "`disable`, `prefer` or `require`",
        }),
    }
}

/// Seconds; 0 and negative mean no limit of its own, as in libpq.
fn parse_timeout(value: &str) -> Result<Option<Duration>, TargetError> {
    let seconds: i32 = value
        .trim()
        .parse()
        .map_err(|_| TargetError::OptionValue { name: "connect_timeout", accepted: "whole seconds" })?;
    Ok(u64::try_from(seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs))
}

fn refuse_unsafe(name: &str, value: &str) -> Result<(), TargetError> {
    let refuse = |instead| Err(TargetError::OptionRefused { name: printable(name), instead });
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return refuse(instead);
    }
    if let Some((_, values)) = HARMLESS.iter().find(|(harmless, _)| *harmless == name) {
        if values.is_empty() || values.contains(&value) {
            return Ok(());
        }
        return refuse(
            "with this value it is not supported or weakens the connection; `sslmode` and `sslrootcert` say how TLS is done",
        );
    }
    let lower = name.to_ascii_lowercase();
    if SUSPICIOUS.iter().any(|part| lower.contains(part)) {
        return refuse(
            "it may weaken TLS or the login; `sslmode`, `sslrootcert` and `channel_binding` say how these are done",
        );
    }
    if printable(name) != name {
        return refuse("option names are made of letters, digits, `_`, `-` and `.`");
    }
    Ok(())
}

/// An option's name for a message; what is no name at all may be a piece of a password.
fn printable(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.len() <= 64 && name.bytes().all(plain) { name.to_owned() } else { "…".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::{Target, TargetError};
    use crate::tls::{Roots, TlsMode};

    const FAR: &str = "db.example.com";

    #[track_caller]
    fn parse(host: &str, query: &str) -> Target {
        Target::parse(&format!("postgres://u:p@{host}/d?{query}")).unwrap()
    }

    #[track_caller]
    fn refused(query: &str) -> String {
        let error = Target::parse(&format!("postgres://u:p@{FAR}/d?{query}")).unwrap_err();
        assert!(
            matches!(error, TargetError::OptionRefused { .. } | TargetError::OptionValue { .. }),
            "{error:?}"
        );
        error.to_string()
    }

    #[test]
    fn sslmode_means_what_is_written_down() {
        use TlsMode::{Encrypt, Plain, PlainIfNotOffered, VerifyCa, VerifyFull};
        for (query, far, near) in [
            ("", VerifyFull, PlainIfNotOffered),
            ("sslmode=disable", Plain, Plain),
            ("sslmode=allow", Encrypt, PlainIfNotOffered),
            ("sslmode=prefer", Encrypt, PlainIfNotOffered),
            ("sslmode=require", Encrypt, Encrypt),
            ("sslmode=verify-ca", VerifyCa, VerifyCa),
            ("sslmode=verify-full", VerifyFull, VerifyFull),
            ("sslrootcert=/etc/ca.pem", VerifyFull, VerifyFull),
            ("sslmode=require&sslrootcert=/etc/ca.pem", VerifyCa, VerifyCa),
        ] {
            assert_eq!(parse(FAR, query).tls_mode(), far, "{query}");
            assert_eq!(parse("localhost", query).tls_mode(), near, "{query}");
        }
    }

    #[test]
    fn weak_tls_is_warned_of_off_loopback_only() {
        for query in ["sslmode=disable", "sslmode=prefer", "sslmode=require"] {
            assert_eq!(parse(FAR, query).warnings().len(), 1, "{query}");
            assert!(parse("127.0.0.1", query).warnings().is_empty(), "{query}");
        }
        assert!(parse(FAR, "sslmode=verify-ca").warnings().is_empty());
    }

    #[test]
    fn text_inside_parameters_does_not_make_a_loopback() {
        assert_eq!(
            parse(FAR, "application_name=localhost&fallback_application_name=127.0.0.1").tls_mode(),
            TlsMode::VerifyFull
        );
    }

    #[test]
    fn foreign_options_are_ignored_and_reported_once() {
        let target = parse(
            FAR,
            "pgbouncer=true&connection_limit=1&pool_timeout=0&schema=app&target_session_attrs=any&application_name=x&supa=base-pooler.x&keepalives=1&sslnegotiation=direct",
        );
        assert_eq!(target.ignored().len(), 8);
        assert_eq!(target.warnings().len(), 1);
        assert!(target.warnings()[0].contains("`pgbouncer`, `connection_limit`"));
    }

    #[test]
    fn what_weakens_the_connection_is_refused_by_name() {
        for query in [
            "sslinsecure=true",
            "uselibpqcompat=true&sslmode=no-verify",
            "sslaccept=accept_invalid_certs",
            "ssl=false",
            "sslcert=x",
            "sslcrl=x",
            "trustServerCertificate=true",
            "rejectUnauthorized=false",
            "options=-c%20statement_timeout%3D0",
            "options=endpoint%3Dx",
            "hostaddr=127.0.0.1",
            "service=x",
            "replication=database",
            "gssencmode=require",
            "client_encoding=LATIN1",
            "sslmod=disable",
            "chanel_binding=require",
            "ssl_min_protocol_version=TLSv1.3",
            "require_auth=none",
            "sslmode=no-verify",
            "sslrootcert=system&sslmode=require",
            "sslmode=",
            "sslrootcert=",
            "channel_binding=yes",
            "connect_timeout=soon",
        ] {
            let name = query.split('=').next().unwrap();
            let message = refused(query);
            assert!(message.contains(name) || message.contains("sslmode"), "{query}: {message}");
        }
    }

    #[test]
    fn an_option_given_twice_is_refused() {
        let error = Target::parse("postgres://u:p@h/d?sslmode=require&sslmode=disable").unwrap_err();
        assert_eq!(error, TargetError::Twice("sslmode".into()));
    }

    #[test]
    fn channel_binding_cannot_be_required_of_a_plain_connection() {
        let error = Target::parse("postgres://u:p@h/d?sslmode=disable&channel_binding=require").unwrap_err();
        assert_eq!(error, TargetError::BindingWithoutTls);
    }

    #[test]
    fn roots_follow_the_host_unless_given() {
        assert_eq!(*parse(FAR, "").roots(), Roots::Public);
        assert_eq!(*parse("x.eu-west-1.rds.amazonaws.com", "").roots(), Roots::Rds);
        assert_eq!(*parse("db.x.supabase.co", "").roots(), Roots::Supabase);
        assert_eq!(*parse("aws-0-eu.pooler.supabase.com", "").roots(), Roots::Supabase);
        assert_eq!(*parse("db.x.supabase.co", "sslrootcert=system").roots(), Roots::Public);
        assert_eq!(*parse(FAR, "sslrootcert=/etc/ca.pem").roots(), Roots::File("/etc/ca.pem".into()));
        assert!(matches!(parse(FAR, "sslrootcert=-----BEGIN%20CERTIFICATE-----").roots(), Roots::Pem(_)));
    }

    #[test]
    fn a_connect_timeout_is_whole_seconds() {
        assert_eq!(parse(FAR, "connect_timeout=3").connect_timeout().unwrap().as_secs(), 3);
        assert_eq!(parse(FAR, "connect_timeout=0").connect_timeout(), None);
        assert_eq!(parse(FAR, "connect_timeout=-1").connect_timeout(), None);
    }
}
