//! The settings that every transaction begins with: what bounds it and what shapes its text.
//! All are local to it, so nothing stays behind on a connection that a pooler hands to somebody else.

use std::time::Duration;

use tokio::time::Instant;

use crate::claims::Claims;
use crate::search_path::SearchPath;
use crate::server_error::ServerError;

/// Opens every transaction.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";

/// The same where what a statement resolves to must first be written down.
pub(crate) const BEGIN_WRITING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// The settings that every major knows. The first ten decide the text that the server prints and reads, and what it
/// remarks besides; a role or a database may have set them otherwise. Written out, because a loop over a list of
/// names costs the server twice the time.
macro_rules! set {
    ($($more:literal),*) => {
        concat!(
            "SELECT pg_catalog.set_config('client_min_messages', 'notice', true), \
             pg_catalog.set_config('standard_conforming_strings', 'on', true), \
             pg_catalog.set_config('TimeZone', 'UTC', true), \
             pg_catalog.set_config('DateStyle', 'ISO, MDY', true), \
             pg_catalog.set_config('IntervalStyle', 'postgres', true), \
             pg_catalog.set_config('bytea_output', 'hex', true), \
             pg_catalog.set_config('extra_float_digits', '1', true), \
             pg_catalog.set_config('xmloption', 'content', true), \
             pg_catalog.set_config('lc_monetary', 'C', true), \
             pg_catalog.set_config('array_nulls', 'on', true), \
             pg_catalog.set_config('search_path', \
               coalesce($1, pg_catalog.current_setting('search_path')), true), \
             pg_catalog.set_config('statement_timeout', $2, true), \
             pg_catalog.set_config('lock_timeout', $3, true), \
             pg_catalog.set_config('client_connection_check_interval', $4, true), \
             pg_catalog.set_config('idle_in_transaction_session_timeout', $5, true)"
            $(, $more)*
        )
    };
}
/// The same without and with what the caller's token says.
macro_rules! both {
    ($more:literal) => {
        [
            set!($more),
            set!(
                $more,
                ", (SELECT pg_catalog.count(pg_catalog.set_config(key, value, true)) \
                 FROM pg_catalog.jsonb_each_text($6::pg_catalog.jsonb))"
            ),
        ]
    };
}
const SET: [&str; 2] = both!("");
const SET_17: [&str; 2] = both!(", pg_catalog.set_config('transaction_timeout', $5, true)");
/// A database without an encoding checks what it sends against the client's, and one odd byte would cost the whole result.
const SET_ASCII: [&str; 2] = both!(", pg_catalog.set_config('client_encoding', 'SQL_ASCII', true)");
const SET_17_ASCII: [&str; 2] = both!(
    ", pg_catalog.set_config('transaction_timeout', $5, true), \
     pg_catalog.set_config('client_encoding', 'SQL_ASCII', true)"
);

/// The longest wait for a lock; readers wait only for what rewrites or drops a table.
const LOCK: Duration = Duration::from_secs(5);
/// How much later than ours the server's last walls stand: they end the connection, not the statement.
const WALL: Duration = Duration::from_secs(5);
/// How often the server looks whether the client is still there.
const CHECK_CLIENT: Duration = Duration::from_secs(1);
/// The server's clock starts later than ours and its error has a way to go.
const HEAD_START: Duration = Duration::from_millis(50);

/// Whether the server can look after its client while a statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientCheck {
    Possible,
    /// Not on its operating system.
    Refused,
}

/// How the database keeps text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Known,
    /// `SQL_ASCII`: bytes as they came.
    None,
}

/// The setting that a server may refuse by its operating system; it takes 0 everywhere.
pub(crate) const CLIENT_CHECK: &str = "client_connection_check_interval";

/// The query that sets everything, with what it is given.
pub(crate) struct Settings {
    pub(crate) sql: &'static str,
    parameters: Vec<Option<String>>,
}

/// The time the server gets for one statement that must end by `deadline`.
pub(crate) fn statement_timeout(deadline: Instant) -> Duration {
    statement_timeout_at(deadline, Instant::now())
}

/// The same for a flight that began earlier.
pub(crate) fn statement_timeout_at(deadline: Instant, began: Instant) -> Duration {
    let left = deadline.saturating_duration_since(began);
    left.saturating_sub(HEAD_START).max(left / 2).max(Duration::from_millis(1))
}

/// Whether the server stopped a statement by a timeout that we set, and nobody else cancelled it.
pub(crate) fn is_timeout(error: &ServerError, elapsed: Duration, timeout: Duration) -> bool {
    match error.sqlstate.as_str() {
        "57014" => elapsed >= timeout,
        // transaction_timeout
        "25P04" => true,
        _ => false,
    }
}

impl Settings {
    /// `search_path` is left as the login has it where none is given.
    pub(crate) fn new(
        major: u32,
        encoding: Encoding,
        check: ClientCheck,
        timeout: Duration,
        search_path: Option<&SearchPath>,
        claims: Option<&Claims>,
    ) -> Self {
        let [plain, with_claims] = match (major >= 17, encoding) {
            (true, Encoding::Known) => SET_17,
            (true, Encoding::None) => SET_17_ASCII,
            (false, Encoding::Known) => SET,
            (false, Encoding::None) => SET_ASCII,
        };
        let check = match check {
            ClientCheck::Possible => milliseconds(CHECK_CLIENT),
            ClientCheck::Refused => "0".to_owned(),
        };
        let mut parameters = vec![
            search_path.map(SearchPath::setting),
            Some(milliseconds(timeout)),
            Some(milliseconds(timeout.min(LOCK))),
            Some(check),
            Some(milliseconds(timeout + WALL)),
        ];
        parameters.extend(claims.map(|claims| Some(claims.json().to_owned())));
        Self { sql: if claims.is_some() { with_claims } else { plain }, parameters }
    }

    pub(crate) fn parameters(&self) -> Vec<Option<&str>> {
        self.parameters.iter().map(Option::as_deref).collect()
    }
}

/// Whole milliseconds, at least one (0 would lift the limit) and at most what the server takes.
fn milliseconds(duration: Duration) -> String {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX).max(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(major: u32, check: ClientCheck) -> Settings {
        Settings::new(major, Encoding::Known, check, Duration::from_secs(20), None, None)
    }

    #[test]
    fn settings_follow_the_major() {
        assert!(settings(18, ClientCheck::Possible).sql.contains("transaction_timeout"));
        assert!(!settings(16, ClientCheck::Possible).sql.contains("transaction_timeout"));
    }

    #[test]
    fn a_server_that_cannot_look_after_its_client_is_asked_not_to() {
        assert_eq!(settings(18, ClientCheck::Possible).parameters()[3], Some("1000"));
        assert_eq!(settings(18, ClientCheck::Refused).parameters()[3], Some("0"));
    }

    #[test]
    fn a_search_path_is_set_only_where_one_is_given() {
        assert_eq!(settings(18, ClientCheck::Possible).parameters()[0], None);
        let none = SearchPath::new(Vec::<String>::new()).unwrap();
        let settings = Settings::new(
            18,
            Encoding::Known,
            ClientCheck::Possible,
            Duration::from_secs(1),
            Some(&none),
            None,
        );
        assert_eq!(settings.parameters()[0], Some(""));
    }

    #[test]
    fn claims_are_one_more_parameter_and_no_text() {
        let name = crate::claims::ClaimName::parse("tenant").unwrap();
        let claims = Claims::new(&[(&name, "x'); DROP".to_owned())]).unwrap();
        let second = Duration::from_secs(1);
        let settings = Settings::new(18, Encoding::Known, ClientCheck::Possible, second, None, Some(&claims));
        assert_eq!(settings.parameters()[5], Some(r#"{"pinguard.claim_tenant":"x'); DROP"}"#));
        assert!(settings.sql.contains("$6") && !settings.sql.contains("DROP"));
    }

    #[test]
    fn a_timeout_is_never_none() {
        assert_eq!(milliseconds(Duration::ZERO), "1");
        assert_eq!(milliseconds(Duration::MAX), i32::MAX.to_string());
        assert!(statement_timeout(Instant::now()) > Duration::ZERO);
    }
}
