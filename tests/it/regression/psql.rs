//! psql, fed with a script piece by piece.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

/// What psql is made to say when it has done everything so far.
const HERE: &str = "pinguard has come to here";

/// The longest that psql may take from one piece to the next.
const LIMIT: Duration = Duration::from_mins(1);

/// A running psql; it is ended with its value.
pub(super) struct Psql {
    child: Child,
    input: ChildStdin,
    here: Receiver<()>,
}

/// Whether psql goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Ready,
    Ended,
}

impl Psql {
    /// Starts it with the surroundings that the regression tests expect.
    pub(super) fn start(url: &str, sources: &Path) -> Self {
        let mut child = Command::new("psql")
            .args(["-X", "-q", "-d", url])
            .current_dir(sources)
            .env("PGTZ", "PST8PDT")
            .env("PGDATESTYLE", "Postgres, MDY")
            .env("PGOPTIONS", "-c intervalstyle=postgres_verbose")
            .env("PG_ABS_SRCDIR", sources)
            .env("PG_ABS_BUILDDIR", sources)
            .env("PG_LIBDIR", sources)
            .env("PG_DLSUFFIX", ".so")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, here) = channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if line.trim_ascii() == HERE.as_bytes() && send.send(()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Self { child, input, here }
    }

    /// Hands a piece over.
    pub(super) fn feed(&mut self, piece: &str) -> Progress {
        match self.input.write_all(piece.as_bytes()) {
            Ok(()) => Progress::Ready,
            Err(_) => Progress::Ended,
        }
    }

    /// Waits until everything was done.
    pub(super) fn wait(&mut self) -> Progress {
        if self.feed(&format!("\n\\echo {HERE}\n")) == Progress::Ended {
            return Progress::Ended;
        }
        self.here.recv_timeout(LIMIT).map_or(Progress::Ended, |()| Progress::Ready)
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        self.feed("\n\\q\n");
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}
