//! The functions behind the listener, set up for one machine.

use std::{sync::Arc, time::Duration};

use http::Request;
use hyper::body::Incoming;
use mcp::{Answer, App, Settings};
use service::{Front, Limits};
use state::{CallRecord, Effect};
use tokio::time::Instant;

/// The end of a call in any case; the settings end it earlier.
pub(crate) const LATEST: Duration = Duration::from_secs(330);

/// How requests may name this machine.
const NAMES: [&str; 2] = ["localhost", "127.0.0.1"];

/// The settings of a machine: the defaults, and requests to loopback only, whatever name a page gives it.
pub(crate) fn settings(port: u16, default_secret: &str) -> Settings {
    Settings {
        limits: Limits { default_secret: Some(default_secret.to_owned()), ..Limits::default() },
        front: front(port),
        ..Settings::default()
    }
}

/// Requests to loopback, and for pages of its own.
pub(crate) fn front(port: u16) -> Front {
    Front {
        allowed_hosts: NAMES.map(str::to_owned).to_vec(),
        allowed_origins: NAMES.map(|host| format!("http://{host}:{port}")).to_vec(),
    }
}

/// The functions that answer requests.
pub(crate) struct Functions {
    pub(crate) mcp: Arc<App>,
    pub(crate) flows: flows::App,
    pub(crate) pin_test: pin_test::App,
}

/// Answers a request by the function that its path belongs to.
pub(crate) async fn answer(functions: Arc<Functions>, request: Request<Incoming>) -> Answer {
    let latest = Instant::now() + LATEST;
    let path = request.uri().path();
    if path.starts_with(pin_test::PATH) {
        pin_test::handle(&functions.pin_test, request, latest).await
    } else if path.starts_with("/api/") {
        flows::handle(&functions.flows, request, latest).await
    } else {
        mcp::handle(&functions.mcp, request, latest).await
    }
}

/// Such as `sales query: 3 rows, 12 ms`.
pub(crate) fn line(record: &CallRecord) -> String {
    let node = record.node.as_deref().unwrap_or(&record.flow);
    let code = record.code.as_deref().unwrap_or("no code");
    let outcome = match (record.effect, record.rows_returned) {
        (Effect::Refused, _) => format!("refused ({code})"),
        (Effect::Failed, _) => format!("failed ({code})"),
        (Effect::None | Effect::Allowed, Some(1)) => "1 row".to_owned(),
        (Effect::None | Effect::Allowed, Some(rows)) => format!("{rows} rows"),
        (Effect::None | Effect::Allowed, None) => record.code.clone().unwrap_or_else(|| "done".to_owned()),
    };
    format!("{node} {}: {outcome}, {} ms", record.tool, record.elapsed_ms)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use state::{CallRecord, Effect};

    use super::line;

    fn record(effect: Effect, code: Option<&str>, rows: Option<u64>) -> CallRecord {
        CallRecord {
            id: String::new(),
            at: SystemTime::UNIX_EPOCH,
            workspace: "local".into(),
            flow: "demo".into(),
            node: Some("sales".into()),
            caller: None,
            tool: "query".into(),
            pin: None,
            pin_version: None,
            sql_hash: None,
            lane: None,
            effect,
            code: code.map(str::to_owned),
            rows_returned: rows,
            tables_read: None,
            bytes: None,
            elapsed_ms: 12,
            page: None,
            free_sql_with_pin: None,
            counted_here: None,
            preview: None,
        }
    }

    #[test]
    fn a_call_is_told_in_one_line() {
        assert_eq!(line(&record(Effect::Allowed, None, Some(3))), "sales query: 3 rows, 12 ms");
        assert_eq!(
            line(&record(Effect::Refused, Some("not_a_query"), None)),
            "sales query: refused (not_a_query), 12 ms"
        );
        assert_eq!(line(&record(Effect::Failed, Some("42P01"), None)), "sales query: failed (42P01), 12 ms");
        assert_eq!(line(&record(Effect::None, None, None)), "sales query: done, 12 ms");
    }
}
