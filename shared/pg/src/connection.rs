//! A session with a server: opening, keeping, leaving it.

use std::fmt;
use std::io;
use std::time::Duration;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use tokio::time::{Instant, error::Elapsed, sleep, timeout};

use crate::cancel::{CancelOnDrop, Canceller};
use crate::claims::Claims;
use crate::connect_error::{ConnectError, Stage};
use crate::dial::{dial, within};
use crate::flight::Flight;
use crate::idle::Home;
use crate::login::log_in;
use crate::read_error::{Lost, ReadError};
use crate::search_path::SearchPath;
use crate::server_error::{Notice, ServerError};
use crate::settings::{CLIENT_CHECK, ClientCheck, Encoding, Settings};
use crate::target::Target;
use crate::wire::{Event, Rows, Wire, WireError};

/// The pause before the second try: a sleeping serverless database needs some hundred milliseconds.
const WAKING: Duration = Duration::from_millis(300);
/// How long cancelling a statement and seeing it end may take.
const SETTLING: Duration = Duration::from_secs(1);
/// How long taking leave may take.
const LEAVING: Duration = Duration::from_millis(100);
/// Notices kept of one statement: the tree of a statement over 40 tables takes 1.1 MB, and one over 150 some 20.
const MAX_NOTICES: usize = 1000;
const MAX_NOTICE_BYTES: usize = 32 << 20;

/// Limits of connecting.
#[derive(Debug, Clone, Copy)]
pub struct ConnectOptions {
    /// The time for one try; the secret's `connect_timeout` lowers it.
    pub connect_timeout: Duration,
    /// When even a second try must have ended.
    pub deadline: Instant,
}

/// A session. It runs one statement at a time and keeps nothing of one for the next.
pub struct Connection {
    wire: Wire,
    canceller: Canceller,
    parameters: Vec<(String, String)>,
    notices: Vec<Notice>,
    notice_bytes: usize,
    login_flights: u64,
    /// How often the server will still report itself ready.
    unanswered: usize,
    in_transaction: InTransaction,
    use_: Use,
    /// Whether the server has answered since the statement began.
    heard: Heard,
    client_check: ClientCheck,
    /// Where it may wait for the next call; none once something speaks against that.
    home: Option<Home>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InTransaction {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing,
    Something,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Free,
    /// A statement runs. It stays so if its caller goes away.
    Busy,
    /// Not to be used again.
    Spent,
}

impl Connection {
    /// Connects and logs in. Tries twice where the server seems to wake up, and only then.
    pub async fn open(target: &Target, options: ConnectOptions) -> Result<Self, ConnectError> {
        match Self::open_once(target, options).await {
            Err(error) if error.may_be_waking() && Instant::now() + WAKING < options.deadline => {
                sleep(WAKING).await;
                Self::open_once(target, options).await
            }
            outcome => outcome,
        }
    }

    async fn open_once(target: &Target, options: ConnectOptions) -> Result<Self, ConnectError> {
        let patience = target.connect_timeout().unwrap_or(Duration::MAX).min(options.connect_timeout);
        let until = Instant::now().checked_add(patience).unwrap_or(options.deadline).min(options.deadline);
        let (stream, address) = dial(target, until).await?;
        let mut wire = Wire::new(stream);
        let session = within(until, target, Stage::Login, log_in(&mut wire, target)).await??;
        Ok(Self {
            login_flights: wire.flights(),
            wire,
            canceller: Canceller::new(target.clone(), address, session.process_id, session.secret_key),
            parameters: session.parameters,
            notices: Vec::new(),
            notice_bytes: 0,
            unanswered: 0,
            in_transaction: InTransaction::No,
            use_: Use::Free,
            heard: Heard::Nothing,
            client_check: ClientCheck::Possible,
            home: None,
        })
    }

    /// A setting that the server reports by itself, as `server_version`, `in_hot_standby`, `server_encoding`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The server's major version; 0 if it does not say.
    pub fn server_major(&self) -> u32 {
        let version = self.parameter("server_version").unwrap_or_default();
        let digits = version.find(|character: char| !character.is_ascii_digit()).unwrap_or(version.len());
        version.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.wire.stream().is_encrypted()
    }

    /// How often a write was followed by waiting for the server, since the login.
    pub fn flights(&self) -> u64 {
        self.wire.flights() - self.login_flights
    }

    /// Whether it can be used for another statement: nothing is left of the last one, and the server is still there.
    pub fn is_reusable(&self) -> bool {
        self.use_ == Use::Free && self.wire.is_quiet()
    }

    /// Takes leave of the server; or waits for the next call, where it was lent for that and no call on it has failed.
    pub async fn close(mut self) {
        let other = match self.home.take() {
            Some(home) if self.is_reusable() => {
                self.wire.shrink();
                home.receive(self)
            }
            _ => Some(self),
        };
        if let Some(mut other) = other {
            other.leave().await;
        }
    }

    pub(crate) fn set_home(&mut self, home: Home) {
        self.home = Some(home);
    }

    /// It is not to wait for another call.
    pub(crate) fn stay_not(&mut self) {
        self.home = None;
    }

    /// Whether the server says a word when asked.
    pub(crate) async fn answers(&mut self) -> bool {
        let mut flight = Flight::default();
        flight.sync();
        self.launch(flight).await.is_ok() && self.settle().await.is_ok()
    }

    async fn leave(&mut self) {
        self.use_ = Use::Spent;
        frontend::terminate(self.wire.outbox());
        // A server that does not listen any more is left all the same.
        let _ = timeout(LEAVING, self.wire.shutdown()).await;
    }

    /// Claims the connection for a statement. Until [`Self::end`] has the guard back, losing it cancels.
    pub(crate) fn begin(&mut self) -> Result<CancelOnDrop, ReadError> {
        if self.use_ != Use::Free {
            return Err(ReadError::Unusable);
        }
        self.use_ = Use::Busy;
        self.heard = Heard::Nothing;
        self.notices.clear();
        self.notice_bytes = 0;
        Ok(CancelOnDrop::armed(self.canceller.clone()))
    }

    /// Gives the connection back. Past its time, the statement is cancelled and the connection left.
    pub(crate) async fn end<T>(
        &mut self,
        guard: CancelOnDrop,
        outcome: Result<Result<T, ReadError>, Elapsed>,
        began: Instant,
    ) -> Result<T, ReadError> {
        let outcome = if let Ok(outcome) = outcome {
            if self.use_ == Use::Busy {
                if self.unanswered == 0 && self.in_transaction == InTransaction::No {
                    self.use_ = Use::Free;
                } else {
                    self.leave().await;
                }
            }
            outcome.map_err(|error| match error {
                ReadError::Lost { source, .. } if self.heard == Heard::Nothing => {
                    ReadError::Lost { lost: Lost::Before, source }
                }
                ReadError::Own(error) if error.is_fatal() => {
                    ReadError::Lost { lost: Lost::Before, source: io::Error::other(error) }
                }
                error => error,
            })
        } else {
            self.stop_and_leave().await;
            Err(ReadError::Deadline { after: began.elapsed() })
        };
        guard.disarm();
        if outcome.is_err() {
            self.home = None;
        }
        outcome
    }

    async fn stop_and_leave(&mut self) {
        // What does not settle in time is left to the server's own walls.
        let _ = timeout(SETTLING, self.cancel_and_settle()).await;
        self.leave().await;
    }

    async fn cancel_and_settle(&mut self) -> Result<(), WireError> {
        self.canceller.cancel().await;
        self.settle().await
    }

    /// Stops a statement of which enough was read. The connection is not used again: a cancel that comes
    /// late would hit the next statement.
    pub(crate) async fn stop(&mut self) {
        let settled = timeout(SETTLING, self.cancel_and_settle()).await;
        if !matches!(settled, Ok(Ok(()))) {
            self.leave().await;
        }
        self.use_ = Use::Spent;
    }

    /// The settings for a transaction on this server.
    pub(crate) fn settings(
        &self,
        timeout: Duration,
        search_path: Option<&SearchPath>,
        claims: Option<&Claims>,
    ) -> Settings {
        let encoding = match self.parameter("server_encoding") {
            Some("SQL_ASCII") => Encoding::None,
            _ => Encoding::Known,
        };
        Settings::new(self.server_major(), encoding, self.client_check, timeout, search_path, claims)
    }

    /// Whether an error of our settings teaches something, so that they are worth a second try.
    pub(crate) fn learn_from(&mut self, error: &ServerError) -> bool {
        let learns = self.client_check == ClientCheck::Possible && error.message.contains(CLIENT_CHECK);
        if learns {
            self.client_check = ClientCheck::Refused;
        }
        learns
    }

    /// Sends a flight.
    pub(crate) async fn launch(&mut self, flight: Flight) -> Result<(), WireError> {
        self.unanswered += flight.answers;
        self.wire.outbox().unsplit(flight.bytes);
        self.wire.send().await
    }

    pub(crate) fn set_rows(&mut self, rows: Rows) {
        self.wire.set_rows(rows);
    }

    /// The next thing that concerns the statement; what the server says by the way is put aside.
    pub(crate) async fn next(&mut self) -> Result<Event, WireError> {
        loop {
            let event = self.wire.next().await?;
            self.heard = Heard::Something;
            match &event {
                Event::Message(Message::NoticeResponse(body)) => {
                    let notice = ServerError::parse(body.fields());
                    self.notice_bytes += notice.weight();
                    if self.notices.len() < MAX_NOTICES && self.notice_bytes <= MAX_NOTICE_BYTES {
                        self.notices.push(notice);
                    }
                }
                Event::Message(Message::ParameterStatus(body)) => {
                    if let (Ok(name), Ok(value)) = (body.name(), body.value()) {
                        self.set_parameter(name, value);
                    }
                }
                Event::Message(Message::NotificationResponse(_)) => {}
                Event::Message(Message::ReadyForQuery(body)) => {
                    self.unanswered = self.unanswered.saturating_sub(1);
                    self.in_transaction =
                        if body.status() == b'I' { InTransaction::No } else { InTransaction::Yes };
                    return Ok(event);
                }
                _ => return Ok(event),
            }
        }
    }

    fn set_parameter(&mut self, name: &str, value: &str) {
        match self.parameters.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => value.clone_into(known),
            None => self.parameters.push((name.to_owned(), value.to_owned())),
        }
    }

    pub(crate) fn take_notices(&mut self) -> Vec<Notice> {
        self.notice_bytes = 0;
        std::mem::take(&mut self.notices)
    }

    /// Whether more was remarked than is kept; and how much is.
    pub(crate) fn notices_overflow(&self) -> Option<usize> {
        (self.notice_bytes > MAX_NOTICE_BYTES).then_some(MAX_NOTICE_BYTES)
    }

    /// Passes over what is still to come and ends the transaction if one is open.
    pub(crate) async fn settle(&mut self) -> Result<(), WireError> {
        self.set_rows(Rows::Discard);
        self.drain().await?;
        if self.in_transaction == InTransaction::Yes {
            let mut flight = Flight::default();
            flight.leave().map_err(WireError::Lost)?;
            self.launch(flight).await?;
            self.drain().await?;
        }
        match self.in_transaction {
            InTransaction::No => Ok(()),
            InTransaction::Yes => Err(WireError::Lost(io::Error::other("the transaction does not end"))),
        }
    }

    async fn drain(&mut self) -> Result<(), WireError> {
        while self.unanswered > 0 {
            self.next().await?;
        }
        Ok(())
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("use", &self.use_).finish_non_exhaustive()
    }
}
