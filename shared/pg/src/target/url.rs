//! The URL form of a secret, by libpq's rules where they are clear and refused where they are not.

use super::host::Host;
use super::{Parts, TargetError};

/// Takes a URL apart. Percent codes are decoded once, after the splitting.
pub(super) fn parse(secret: &str) -> Result<Parts, TargetError> {
    let (scheme, rest) = secret.split_once("://").ok_or(TargetError::Form)?;
    if !(scheme.eq_ignore_ascii_case("postgres") || scheme.eq_ignore_ascii_case("postgresql")) {
        return Err(TargetError::Form);
    }
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    // With a bare `/` or `?` in a password the real host would be behind this `@`.
    if tail.contains('@') {
        return Err(TargetError::Unencoded);
    }
    let mut parts = Parts::default();
    let endpoint = match authority.rsplit_once('@') {
        None => authority,
        Some((login, endpoint)) => {
            let (user, password) = match login.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (login, None),
            };
            set_decoded(&mut parts, "user", user)?;
            set_decoded(&mut parts, "password", password.unwrap_or_default())?;
            endpoint
        }
    };
    parse_endpoint(&mut parts, endpoint)?;

    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let database = path.strip_prefix('/').unwrap_or(path);
    if database.contains('/') {
        return Err(TargetError::Unencoded);
    }
    set_decoded(&mut parts, "dbname", database)?;
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').ok_or(TargetError::OptionForm)?;
        parts.set(&decode(name)?, decode(value)?)?;
    }
    Ok(parts)
}

fn parse_endpoint(parts: &mut Parts, endpoint: &str) -> Result<(), TargetError> {
    if endpoint.contains(',') {
        return Err(TargetError::SeveralHosts);
    }
    if let Some(rest) = endpoint.strip_prefix('[') {
        let (address, after) = rest.split_once(']').ok_or(TargetError::BadHost)?;
        Host::parse_bracketed(address)?;
        parts.set("host", address.to_owned())?;
        return match after.strip_prefix(':') {
            Some(port) => set_decoded(parts, "port", port),
            None if after.is_empty() => Ok(()),
            None => Err(TargetError::BadHost),
        };
    }
    let (host, port) = endpoint.split_once(':').unwrap_or((endpoint, ""));
    if port.contains(':') {
        return Err(TargetError::BadHost);
    }
    set_decoded(parts, "host", host)?;
    set_decoded(parts, "port", port)
}

/// Sets what is there: an empty part of a URL leaves room for the option of the same name.
fn set_decoded(parts: &mut Parts, name: &str, text: &str) -> Result<(), TargetError> {
    if text.is_empty() { Ok(()) } else { parts.set(name, decode(text)?) }
}

fn decode(text: &str) -> Result<String, TargetError> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = bytes.next().and_then(hex_digit).ok_or(TargetError::BadPercent)?;
            let low = bytes.next().and_then(hex_digit).ok_or(TargetError::BadPercent)?;
            decoded.push(high << 4 | low);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).map_err(|_| TargetError::BadPercent)
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Target, TargetError};

    #[track_caller]
    fn check(secret: &str, shown: &str, password: Option<&str>) {
        let target = Target::parse(secret).unwrap();
        assert_eq!(target.to_string(), shown);
        assert_eq!(target.password().map(super::super::Password::reveal), password.map(str::as_bytes));
        assert!(!format!("{target:?}").contains("secretword"));
    }

    #[track_caller]
    fn refused(secret: &str, error: &TargetError) {
        assert_eq!(Target::parse(secret).unwrap_err(), *error);
        assert!(!error.to_string().contains("secretword"));
    }

    #[test]
    fn the_usual_forms_are_understood() {
        check("postgres://u:secretword@h:6432/d", "u@h:6432/d", Some("secretword"));
        check("postgresql://u@h", "u@h:5432/u", None);
        check("POSTGRES://u:secretword@H.Example/d?", "u@h.example:5432/d", Some("secretword"));
        check(" postgres://u:p@[::1]:5433/d\n", "u@[::1]:5433/d", Some("p"));
        check("postgres://u:p@[2001:db8::1]/d", "u@[2001:db8::1]:5432/d", Some("p"));
        check("postgres://?host=h&port=99&user=u&password=p%26&dbname=d", "u@h:99/d", Some("p&"));
        check("postgres:///d?host=h&user=u", "u@h:5432/d", None);
    }

    #[test]
    fn odd_passwords_arrive_as_they_are() {
        check("postgres://u:p@ss:w#rd!@h/d", "u@h:5432/d", Some("p@ss:w#rd!"));
        check("postgres://u:a%3Fb@h/d", "u@h:5432/d", Some("a?b"));
        check("postgres://u:a%253Fb@h/d", "u@h:5432/d", Some("a%3Fb"));
        check("postgres://u:%2F%40%3A+%20@h/d", "u@h:5432/d", Some("/@:+ "));
        check("postgres://a%40b:p@h/my%2Fdb", "a@b@h:5432/my/db", Some("p"));
        check("postgres://u:\u{e4}%C3%A4@h/d", "u@h:5432/d", Some("\u{e4}\u{e4}"));
    }

    #[test]
    fn a_password_with_a_bare_delimiter_leads_to_no_other_host() {
        for secret in [
            "postgres://u:secret/word@h/d",
            "postgres://u:secret?word@h/d",
            "postgres://u:12/secretword@h/d",
            "postgres://u:12?secretword=x@h/d",
            "postgres://u:p@secretword/x@h/d",
        ] {
            refused(secret, &TargetError::Unencoded);
        }
        refused("postgres://u:secretword", &TargetError::BadPort);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        refused("", &TargetError::Form);
        refused("host=h user=u password=secretword", &TargetError::Form);
        refused("mysql://u:secretword@h/d", &TargetError::Form);
        refused("postgres://u:secretword@/d", &TargetError::NoHost);
        refused("postgres://:secretword@h/d", &TargetError::NoUser);
        refused("postgres://u:secretword@a,b/d", &TargetError::SeveralHosts);
        refused("postgres://u:secretword@h/d?host=a,b", &TargetError::Twice("host".into()));
        refused("postgres://u:secretword@%2Fvar%2Frun/d", &TargetError::UnixSocket);
        refused("postgres://u:secretword@h:0/d", &TargetError::BadPort);
        refused("postgres://u:secretword@h:65536/d", &TargetError::BadPort);
        refused("postgres://u:secretword@h:+1/d", &TargetError::BadPort);
        refused("postgres://u:secretword@::1/d", &TargetError::BadHost);
        refused("postgres://u:secretword@[::1/d", &TargetError::BadHost);
        refused("postgres://u:secretword@[h]/d", &TargetError::BadHost);
        refused("postgres://u:secretword%@h/d", &TargetError::BadPercent);
        refused("postgres://u:secretword%zz@h/d", &TargetError::BadPercent);
        refused("postgres://u:%ff@h/d", &TargetError::BadPercent);
        refused("postgres://u:secretword%00@h/d", &TargetError::Nul);
        refused("postgres://u:secretword@h/d/e", &TargetError::Unencoded);
        refused("postgres://u:secretword@h/d?sslmode", &TargetError::OptionForm);
        refused("postgres://u:secretword@h/d?password=x", &TargetError::Twice("password".into()));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", scheme in "(postgres://)?") {
            let _ = Target::parse(&(scheme + &text));
        }

        #[test]
        fn every_encoded_password_comes_back(password in "[^\0]{1,20}") {
            let encoded = password.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02x}"));
            let target = Target::parse(&format!("postgres://u:{encoded}@h/d")).unwrap();
            prop_assert_eq!(target.password().unwrap().reveal(), password.as_bytes());
        }
    }
}
