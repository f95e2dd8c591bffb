//! Child processes that cannot outlive us.
//!
//! Each is run by a small shell whose standard input is a pipe that we hold. When the pipe closes, because we stop the
//! program or because this process is gone in whatever way, the shell stops the program.

mod account;

use std::{
    ffi::OsString,
    fs::File,
    io::{Read as _, Seek as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

pub(crate) use self::account::open_to_all;
pub use self::account::{Account, temporary};

/// How long an orderly end may take.
const STOP_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

/// Runs the program given as `$3…`, stops it by the signal `$1` when standard input ends, then removes the folder `$2`
/// (empty: keeps it). A background job of a shell has no standard input, so the pipe is read under number 3.
const SUPERVISOR: &str = r#"
signal=$1 scratch=$2; shift 2
exec 3<&0
"$@" </dev/null 3<&- & program=$!
(read -r _ <&3; kill -s "$signal" "$program") & watcher=$!
wait "$program"; code=$?
kill "$watcher" 2>/dev/null
[ -z "$scratch" ] || rm -rf "$scratch"
exit "$code"
"#;

/// What to run, and how.
#[derive(Debug)]
pub struct Program<'a> {
    /// The program file.
    pub path: &'a Path,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whom it runs as; `None` for ourselves.
    pub account: Option<Account>,
    /// Its current folder.
    pub folder: &'a Path,
    /// Where its output goes; emptied first.
    pub log: PathBuf,
    /// The signal that ends it in order, without `SIG`.
    pub stop_signal: &'static str,
    /// A folder that goes when the program has ended.
    pub scratch: Option<&'a Path>,
}

/// A running program. Dropping it ends the program.
#[derive(Debug)]
pub struct Supervised {
    shell: Child,
    /// Closing this ends the program. `None` once closed.
    lifeline: Option<ChildStdin>,
    log: File,
}

impl Supervised {
    /// Starts a program.
    ///
    /// # Errors
    /// The log cannot be written or there is no shell. That the program itself cannot run shows in [`Self::ended`]
    /// and in the log.
    pub fn start(program: Program<'_>) -> Result<Self> {
        let log = File::options().read(true).append(true).create(true).open(&program.log);
        let log = log.with_context(|| format!("cannot write {}", program.log.display()))?;
        log.set_len(0).context("cannot empty the log file")?;
        let same = || log.try_clone().context("cannot use the log file twice");
        let mut shell = command(Path::new("/bin/sh"), program.folder, program.account);
        shell.args(["-c", SUPERVISOR, "pinguard-child", program.stop_signal]);
        shell.arg(program.scratch.unwrap_or(Path::new(""))).arg(program.path).args(program.arguments);
        // A process group of its own: Ctrl-C in a terminal reaches us alone, and we end the program in order.
        shell.stdin(Stdio::piped()).stdout(same()?).stderr(same()?).process_group(0);
        let mut shell = shell.spawn().context("cannot run /bin/sh")?;
        let lifeline = shell.stdin.take();
        Ok(Self { shell, lifeline, log })
    }

    /// Whether the program has ended by itself.
    ///
    /// # Errors
    /// The operating system does not say.
    pub fn ended(&mut self) -> Result<bool> {
        Ok(self.shell.try_wait().context("cannot wait for a child process")?.is_some())
    }

    /// What the program wrote up to now, even where the log file is gone.
    pub fn output(&self) -> String {
        let mut bytes = Vec::new();
        let mut log = &self.log;
        match log.rewind().and_then(|()| log.read_to_end(&mut bytes)) {
            Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("the log cannot be read: {error}"),
        }
    }

    /// Ends the program and waits until it is gone.
    ///
    /// # Errors
    /// It does not end within 30 seconds.
    pub fn stop(&mut self) -> Result<()> {
        drop(self.lifeline.take());
        let deadline = Instant::now() + STOP_LIMIT;
        while !self.ended()? {
            ensure!(Instant::now() < deadline, "process {} does not end", self.shell.id());
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // Whoever wants to hear of a failure calls `stop`.
        let _ = self.stop();
    }
}

/// A command whose language and time zone do not depend on ours.
pub(crate) fn command(program: &Path, folder: &Path, account: Option<Account>) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").env("TZ", "UTC").current_dir(folder);
    if let Some(account) = account {
        command.uid(account.uid()).gid(account.gid());
    }
    command
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Program, Supervised};
    use crate::embedded::random_word;

    fn sleeper(folder: &Path) -> Program<'_> {
        Program {
            path: Path::new("/bin/sleep"),
            arguments: vec!["1000".into()],
            account: None,
            folder: Path::new("/"),
            log: folder.with_extension("log"),
            stop_signal: "TERM",
            scratch: Some(folder),
        }
    }

    #[test]
    fn a_stopped_program_is_gone_and_its_folder_too() -> anyhow::Result<()> {
        let folder = std::env::temp_dir().join(format!("pinguard-{}", random_word()?));
        std::fs::create_dir(&folder)?;
        let mut program = Supervised::start(sleeper(&folder))?;
        assert!(!program.ended()?);
        program.stop()?;
        assert!(program.ended()?);
        assert!(!folder.exists());
        std::fs::remove_file(folder.with_extension("log"))?;
        Ok(())
    }
}
