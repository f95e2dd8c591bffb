//! Results of several pages: what is kept of them in the cache, and what a cursor gives back.
//!
//! A page of kept rows does not ask the database: its rows were read under the guard. Whose they are, the node and its pins are
//! checked anew. Where the cache is away, a first page is answered without a cursor, and a cursor is as good as expired.

mod cursor;
mod record;
mod summary;

use std::time::{Duration, Instant as Clock, SystemTime};

use analyst::pages::{Ahead, Leaf};
use analyst::query::{Answer, Ask};
use analyst::{Failure, Kind, pinned, query};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pins::{Compiled, Pin};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use state::{CacheError, Caps, EntryKey, Life};
use tokio::time::Instant;

use crate::tools::{Wishes, Work, compiled};
use cursor::Cursor;
use record::{Place, Record};

pub(crate) use record::{PinCall, Shape, Statement};

/// How long a cursor lives after its last use, and in all.
const IDLE: Duration = Duration::from_mins(5);
const TOTAL: Duration = Duration::from_mins(30);
/// What is kept of one caller, and of one workspace.
const CAPS: Caps = Caps { entries_per_owner: 8, bytes_per_workspace: 64 << 20 };
/// How long the cache may take for one operation.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a caller asks of a cursor.
pub(crate) struct Turn<'a> {
    pub(crate) cursor: &'a str,
    /// The number of the page, from 1; none for the next.
    pub(crate) page: Option<u32>,
    pub(crate) wishes: Wishes,
    /// Through which tool it came.
    pub(crate) by: By,
}

/// The tool that a cursor was sent to.
pub(crate) enum By {
    NextPage,
    /// Free SQL, and the statement that was sent along.
    Query(Option<Statement>),
}

/// A result whose pages are asked for.
struct Found {
    result: [u8; 16],
    record: Record,
}

impl Work<'_> {
    /// Keeps what follows a first page, and says on the page how it is to be had.
    pub(crate) async fn keep(&self, answer: &mut Answer, statement: Statement, shape: Shape) {
        let mut result = [0; 16];
        if getrandom::fill(&mut result).is_err() {
            return cannot_be_kept(answer, "no random bytes");
        }
        self.keep_from(answer, statement, shape, Begin { result, born: now(), first: 0, page: 1 }).await;
    }

    async fn keep_from(&self, answer: &mut Answer, statement: Statement, shape: Shape, begin: Begin) {
        let Some(kept) = answer.kept.take() else { return };
        let Some((index, mut parts)) = kept.pack() else {
            return cannot_be_kept(answer, "a row is too large");
        };
        let Begin { result, born, first, page } = begin;
        let numbered = answer.truncated_by == Some("rows") && first.is_multiple_of(shape.rows);
        let record = Record {
            flow: self.flow.to_owned(),
            node: self.node.id.as_str().to_owned(),
            configuration: self.configuration(),
            statement,
            tables: answer.tables.clone(),
            born,
            first,
            numbered,
            shape,
            index,
        };
        let Ok(head) = serde_json::to_vec(&record) else { return cannot_be_kept(answer, "no record of it") };
        parts.insert(0, head);
        let left = TOTAL.saturating_sub(Duration::from_secs(now().saturating_sub(born)));
        let life = Life { idle: IDLE, total: left };
        let entry = self.entry(result, first);
        let put = Box::pin(self.app.cache.put(&entry, &parts, life, CAPS, self.patience()));
        if let Err(error) = put.await {
            tracing::warn!(code = error.code(), hint = error.hint(), %error, "a result has no further pages");
            return cannot_be_kept(answer, error.code());
        }
        let rows = u32::try_from(answer.row_count).unwrap_or(u32::MAX);
        self.report(|report| report.page = Some(page));
        record.label(answer, result, Place { from: first, to: first.saturating_add(rows), page });
    }

    /// The page that a cursor gives.
    pub(crate) async fn turn(&self, turn: Turn<'_>) -> Result<Value, Failure> {
        let started = Clock::now();
        let cursor = Cursor::read(turn.cursor).ok_or_else(expired)?;
        let found = self.find(cursor.result, cursor.first).await?;
        let statement = found.record.statement.clone();
        turn.by.admits(&statement)?;
        self.report(|report| report.sql = Some(statement.sql.clone()));
        if found.record.configuration != self.configuration() {
            return Err(outdated("the node has changed since this result was read"));
        }
        let pin = match &statement.pin {
            Some(called) => Some(self.called(called, &statement).await?),
            None => None,
        };
        let from = match turn.page {
            None => cursor.at,
            Some(number) => found.record.begin(number, cursor)?,
        };
        let place = Place { from, to: from, page: found.record.page_at(from, cursor) };
        let mut lowered = Vec::new();
        let most_rows =
            pin.as_ref().and_then(|pin| pin.pin.row_cap()).map_or(u32::MAX, std::num::NonZeroU32::get);
        let shape = turn.wishes.shape(&self.scope, found.record.shape, most_rows, &mut lowered);
        let mut answer =
            self.page(found, place, shape, turn.wishes.seconds(&self.scope, &mut lowered)).await?;
        answer.notes.extend(lowered);
        answer.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.report(|report| {
            report.answered(&answer);
            report.page = Some(place.page);
        });
        match pin {
            None => Self::json(&answer),
            Some(called) => {
                let pin = called.pin;
                self.report(|report| report.pin = Some((pin.id().to_owned(), pin.version())));
                Self::json(&called.call(self).pinned(answer, from))
            }
        }
    }

    /// Cuts the page from kept rows, or runs the statement again where they end.
    async fn page(&self, found: Found, place: Place, shape: Shape, seconds: u32) -> Result<Answer, Failure> {
        let Found { result, record } = found;
        if (record.first..record.last()).contains(&place.from) {
            return self.cut(result, &record, place, shape).await;
        }
        if place.from != record.last() || !record.index.goes_on() {
            return Err(expired());
        }
        match self.find(result, place.from).await {
            Ok(next) => self.cut(result, &next.record, place, shape).await,
            Err(_) => self.again(result, record, place, shape, seconds).await,
        }
    }

    async fn cut(
        &self,
        result: [u8; 16],
        record: &Record,
        place: Place,
        shape: Shape,
    ) -> Result<Answer, Failure> {
        let ask = Record::ask(shape, self.scope.ceilings.value_chars);
        let from = place.from - record.first;
        let mut leaf = Leaf::new(&record.index, from, ask);
        loop {
            // The record is part 0.
            let wanted: Vec<u32> = leaf.wants().into_iter().map(|part| part + 1).collect();
            if wanted.is_empty() {
                break;
            }
            let parts = self.parts(result, record.first, &wanted).await?;
            leaf.feed(&parts).map_err(|_| expired())?;
        }
        let mut answer = record.index.answer(leaf.finish(), from, ask);
        answer.tables.clone_from(&record.tables);
        let rows = u32::try_from(answer.row_count).unwrap_or(u32::MAX);
        record.label(&mut answer, result, Place { to: place.from.saturating_add(rows), ..place });
        Ok(answer)
    }

    /// Runs the statement once more, as if it were new, behind the rows that were shown.
    async fn again(
        &self,
        result: [u8; 16],
        record: Record,
        place: Place,
        shape: Shape,
        seconds: u32,
    ) -> Result<Answer, Failure> {
        let statement = record.statement;
        let ask = Ask {
            sql: &statement.sql,
            parameters: statement.parameters.clone(),
            rows: shape.rows,
            bytes: shape.bytes,
            format: shape.format,
            skipped: place.from,
            ahead: Ahead::Kept,
        };
        let deadline = self.deadline(seconds);
        let open = || self.reach(deadline);
        let mut answer = match statement.pin {
            None => query::ask(&ask, &self.scope, deadline, open).await?,
            Some(_) => pinned::run(&ask, &self.scope, deadline, open).await?,
        };
        answer.notes.push(format!(
            "the kept rows ended before these: the statement ran again and its first {} rows were passed over; where their order \
             has shifted, rows may be missing or come twice",
            place.from
        ));
        let begin = Begin { result, born: record.born, first: place.from, page: place.page };
        self.keep_from(&mut answer, statement, record.shape, begin).await;
        Ok(answer)
    }

    /// The record of kept rows. Those of another caller, flow or node are not there.
    async fn find(&self, result: [u8; 16], first: u32) -> Result<Found, Failure> {
        let head = self.parts(result, first, &[0]).await?.pop();
        let record: Option<Record> = head.and_then(|head| serde_json::from_slice(&head).ok());
        let own = record.filter(|record| record.flow == self.flow && record.node == self.node.id.as_str());
        own.map(|record| Found { result, record }).ok_or_else(expired)
    }

    async fn parts(&self, result: [u8; 16], first: u32, parts: &[u32]) -> Result<Vec<Vec<u8>>, Failure> {
        let entry = self.entry(result, first);
        match Box::pin(self.app.cache.get(&entry, parts, self.patience())).await {
            Ok(Some(parts)) => Ok(parts),
            Ok(None) => Err(expired()),
            Err(error) => {
                // What another build wrote is as good as gone.
                if !matches!(error, CacheError::Malformed) {
                    tracing::warn!(code = error.code(), hint = error.hint(), %error, "a page cannot be had");
                }
                Err(expired())
            }
        }
    }

    fn entry(&self, result: [u8; 16], first: u32) -> EntryKey {
        let owner = self.caller.map_or_else(|| "anyone".to_owned(), |caller| format!("caller {caller}"));
        EntryKey::new(self.workspace, &owner, &Cursor::entry(result, first))
    }

    fn patience(&self) -> Instant {
        self.latest.min(Instant::now() + PATIENCE)
    }

    /// What decides which rows this caller gets: the node, its secret, whether pins are on, the claims that it hands on.
    fn configuration(&self) -> String {
        let agreed: Vec<String> = self.secret.agreed.iter().map(|agreed| format!("{agreed:?}")).collect();
        let all = json!({
            "node": self.node.to_json(),
            "secret": self.secret.secret_id,
            "agreed": agreed,
            "pins": self.app.stamp_keys.is_some(),
            "claims": self.scope.claims.as_ref().map(pg::Claims::json),
        });
        URL_SAFE_NO_PAD.encode(Sha256::digest(all.to_string()))
    }

    /// The pin of a result, as it stands now; its arguments must still bind to the same values.
    async fn called<'c>(&'c self, called: &'c PinCall, statement: &Statement) -> Result<Called<'c>, Failure> {
        let gone = || outdated("the pinned query of this result has changed since");
        let pin = self.node.pins.iter().find(|pin| pin.id() == called.id).ok_or_else(gone)?;
        let compiled = compiled(pin)?;
        self.verify(pin).await?;
        let found = Called { pin, compiled, arguments: &called.arguments };
        // What the caller's token says may have changed.
        if pinned::parameters(found.call(self).values()?) != statement.parameters {
            return Err(outdated("what your access token says has changed since this result was read"));
        }
        Ok(found)
    }
}

/// Where kept rows begin.
#[derive(Debug, Clone, Copy)]
struct Begin {
    result: [u8; 16],
    born: u64,
    first: u32,
    page: u32,
}

/// A pin's call, found again.
struct Called<'a> {
    pin: &'a Pin,
    compiled: Compiled,
    arguments: &'a rmcp::model::JsonObject,
}

impl Called<'_> {
    fn call<'c>(&'c self, work: &Work<'c>) -> pinned::Call<'c> {
        pinned::Call {
            pin: self.pin,
            compiled: &self.compiled,
            arguments: self.arguments,
            token: work.token,
            format: work.row_format(),
        }
    }
}

impl By {
    /// Free SQL reads on in free SQL, and in no other statement than the one that was sent along.
    fn admits(&self, kept: &Statement) -> Result<(), Failure> {
        let Self::Query(sent) = self else { return Ok(()) };
        if kept.pin.is_some() {
            let failure = Failure::argument("this cursor is of a pinned query");
            return Err(failure.hinting("send it to `next_page`"));
        }
        let same = |sent: &Statement| {
            pins::sql_hash(&sent.sql) == pins::sql_hash(&kept.sql)
                && (sent.parameters.is_empty() || sent.parameters == kept.parameters)
        };
        if sent.as_ref().is_none_or(same) {
            return Ok(());
        }
        let failure = Failure::argument("`sql` and `params` are not those of this cursor's statement");
        Err(failure.hinting("send `cursor` alone to read on, or `sql` alone to ask anew"))
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// One answer for whatever a cursor is not: it does not tell whether another caller has it.
fn expired() -> Failure {
    let message = "this cursor gives nothing: it is not one of yours, it has expired, or it made room for newer ones; a cursor lives \
                   5 minutes after its last use and 30 after the first page, and a caller has 8";
    Failure::new(Kind::Argument, "cursor_expired", message).hinting("ask again for the first page")
}

fn outdated(what: &str) -> Failure {
    Failure::new(Kind::Argument, "cursor_outdated", what).hinting("ask again for the first page")
}

fn cannot_be_kept(answer: &mut Answer, why: &str) {
    answer.notes.push(format!("there is no cursor: what follows could not be kept ({why})"));
}
