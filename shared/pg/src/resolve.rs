//! What PostgreSQL resolves a statement to: the tree that it prints when asked to, caught on its way to the client.
//!
//! Nothing is planned or run, nothing is written, and the server's own log stays as it is.

use guard::facts::{Facts, Major};
use guard::{Candidate, Clear, Judgement, Refusal, Rules, Step};
use postgres_protocol::message::backend::Message;
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;
use crate::flight::Flight;
use crate::read_error::ReadError;
use crate::search_path::SearchPath;
use crate::server_error::{Notice, ServerError};
use crate::settings::{self, BEGIN};
use crate::wire::{Event, Rows};

/// Has trees printed to the client and not to the server's log. A login for which the log is already that quiet need not be
/// able to change it.
const PRINT_TREES: &str = "SELECT pg_catalog.set_config('debug_pretty_print', 'off', true), \
     CASE WHEN pg_catalog.current_setting('log_min_messages') NOT IN ('fatal', 'panic') \
          THEN pg_catalog.set_config('log_min_messages', 'fatal', true) END, \
     pg_catalog.set_config('client_min_messages', 'log', true), \
     pg_catalog.set_config('debug_print_parse', 'on', true)";

/// The message that a tree comes with, and where in PostgreSQL's source it is sent.
const TREE_MESSAGE: &str = "parse tree:";
const TREE_FILE: &str = "print.c";
const TREE_ROUTINE: &str = "elog_node_display";

/// Rounds of questions to the catalog before a judgement is given up: views over views of 60 levels take as many.
const MOST_ROUNDS: usize = 100;

/// Why nothing is known of what a statement resolves to.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The login may not keep trees out of the server's log.
    #[error("this login cannot have statements resolved quietly: it may not set `log_min_messages`")]
    NotQuiet,
    /// A version of PostgreSQL whose trees nobody here has seen.
    #[error("PostgreSQL {0} is not one of the versions 14 to 18 whose statements can be judged")]
    UnknownMajor(u32),
    /// Not exactly one tree arrived, or something that looks like one.
    #[error("the server did not say once and clearly what the statement resolves to")]
    NotOneTree,
    /// The catalog was asked again and again.
    #[error("the statement reaches more of the catalog than can be followed")]
    TooManyRounds,
    /// The server's answer about the statement, or a broken connection.
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// What came of a judgement.
#[derive(Debug)]
pub enum Judged {
    /// The statement may run.
    Clear(Clear),
    /// It may not.
    Refused(Refusal),
}

impl Connection {
    /// Has the server resolve a statement, and judges what it resolved it to.
    pub async fn judge(
        &mut self,
        candidate: &Candidate,
        rules: &Rules,
        search_path: Option<&SearchPath>,
        deadline: Instant,
    ) -> Result<Judged, ResolveError> {
        let number = self.server_major();
        let major = Major::new(number).ok_or(ResolveError::UnknownMajor(number))?;
        match self.tree(candidate.judged_text(), search_path, deadline).await {
            Ok(tree) => self.follow(Judgement::begin(&tree, major, rules, Facts::default()), deadline).await,
            Err(error) => match (&error, Judgement::of_unresolved(candidate, major, rules)) {
                (ResolveError::Read(ReadError::Server(_)), Some(judgement)) => {
                    match self.follow(judgement, deadline).await? {
                        Judged::Clear(_) => Err(error),
                        refused @ Judged::Refused(_) => Ok(refused),
                    }
                }
                _ => Err(error),
            },
        }
    }

    /// Asks the catalog until a judgement is done.
    async fn follow(
        &mut self,
        mut judgement: Judgement<'_>,
        deadline: Instant,
    ) -> Result<Judged, ResolveError> {
        for _ in 0..MOST_ROUNDS {
            match judgement.step() {
                Step::Need(needs) => judgement.learn(self.facts(&needs, deadline).await?),
                Step::Clear(clear) => return Ok(Judged::Clear(clear)),
                Step::Refused(refusal) => return Ok(Judged::Refused(refusal)),
            }
        }
        Err(ResolveError::TooManyRounds)
    }

    /// The tree of a statement, as the server prints it.
    async fn tree(
        &mut self,
        sql: &str,
        search_path: Option<&SearchPath>,
        deadline: Instant,
    ) -> Result<String, ResolveError> {
        let began = Instant::now();
        let guard = self.begin()?;
        let outcome = timeout_at(deadline, self.parse_and_catch(sql, search_path, deadline)).await;
        self.end(guard, outcome, began).await?
    }

    async fn parse_and_catch(
        &mut self,
        sql: &str,
        search_path: Option<&SearchPath>,
        deadline: Instant,
    ) -> Result<Result<String, ResolveError>, ReadError> {
        let settings = self.settings(settings::statement_timeout(deadline), search_path);
        let mut flight = Flight::default();
        let queued = flight
            .run(BEGIN, &[])
            .and_then(|flight| flight.run(settings.sql, &settings.parameters()))
            .and_then(|flight| flight.run(PRINT_TREES, &[]))
            .and_then(|flight| flight.parse(sql))
            .and_then(|flight| flight.sync().rollback().map(drop));
        queued.map_err(ReadError::unsendable)?;
        self.set_rows(Rows::Discard);
        self.launch(flight).await?;
        // Of ours are three: BEGIN, the settings, and printing.
        let mut done = 0;
        let caught = loop {
            match self.next().await? {
                Event::Message(Message::CommandComplete(_)) => done += 1,
                Event::Message(Message::ReadyForQuery(_)) => break the_one_tree(self.take_notices()),
                Event::Message(Message::ErrorResponse(body)) => {
                    let error = ServerError::parse(body.fields());
                    break Err(match (done, error.sqlstate.as_str()) {
                        (2, "42501") => ResolveError::NotQuiet,
                        (3, _) => ReadError::Server(Box::new(error)).into(),
                        _ => ReadError::Own(Box::new(error)).into(),
                    });
                }
                Event::Message(Message::ParseComplete | Message::BindComplete) => {}
                Event::Row(_) | Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        };
        self.settle().await?;
        Ok(caught)
    }
}

/// The tree, if exactly one came that can only be the statement's own. A text that user code raises can look like a tree, but
/// not come from PostgreSQL's printing routine without a context.
fn the_one_tree(notices: Vec<Notice>) -> Result<String, ResolveError> {
    let mut trees = notices.into_iter().filter(|notice| notice.message.starts_with(TREE_MESSAGE));
    match (trees.next(), trees.next()) {
        (Some(tree), None) if is_genuine(&tree) => {
            tree.private_detail().map(str::to_owned).ok_or(ResolveError::NotOneTree)
        }
        _ => Err(ResolveError::NotOneTree),
    }
}

fn is_genuine(notice: &Notice) -> bool {
    notice.severity == "LOG"
        && notice.message == TREE_MESSAGE
        && notice.file.as_deref().is_some_and(|file| file == TREE_FILE || file.ends_with("/print.c"))
        && notice.routine.as_deref() == Some(TREE_ROUTINE)
        && notice.where_.is_none()
}
