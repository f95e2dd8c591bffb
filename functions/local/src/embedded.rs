//! A PostgreSQL server of our own: made, started, watched and stopped by this process, on loopback only.
//!
//! PostgreSQL refuses to run as root, so for root it runs as another account (see [`Account`]).

mod binaries;
mod folder;

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::Write as _,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};

pub use self::binaries::target_folder;
use self::folder::Folder;
pub use self::{binaries::Binaries, folder::Home};
use crate::supervised::{Account, Program, Supervised, command};

/// The superuser of every server started here.
pub const SUPERUSER: &str = "postgres";

/// How long a server may take to accept connections: an unclean stop before means replaying its log.
const START_LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);
/// Another process may take a port between our finding it free and the server's listening on it.
const FREE_PORT_ATTEMPTS: usize = 5;

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The PostgreSQL to run.
    pub binaries: Binaries,
    /// Where its data lives, and whether they outlive it.
    pub home: Home,
    /// The port on 127.0.0.1; `None` takes a free one.
    pub port: Option<u16>,
    /// Server settings by name, as of `postgres -c name=value`.
    pub settings: Vec<(String, String)>,
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    postgres: Supervised,
    folder: Folder,
    port: u16,
    password: String,
}

impl Server {
    /// Starts a server and returns when it accepts connections. A data folder that is not there yet is made: UTF-8,
    /// C rules for sorting (from 17 on with the character classes of Unicode), passwords by SCRAM.
    ///
    /// # Errors
    /// The folder cannot be used or belongs to another major version, another server runs in it, the port is taken,
    /// or PostgreSQL itself does not start: then the end of its log is part of the message.
    pub fn start(options: &ServerOptions) -> Result<Self> {
        let account = Account::for_programs(options.home.data().as_deref())?;
        let binaries = options.binaries.reachable()?;
        let attempts = if options.port.is_some() { 1 } else { FREE_PORT_ATTEMPTS };
        let mut attempt = 1;
        loop {
            let folder = Folder::open(&options.home, account)?;
            let password = prepare(&folder, &binaries, account)?;
            let port = options.port.map_or_else(free_port, Ok)?;
            match launch(&folder, &binaries, account, port, &options.settings) {
                Ok(postgres) => return Ok(Self { postgres, folder, port, password }),
                Err(Failure::PortTaken(_)) if attempt < attempts => attempt += 1,
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    /// The port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The folder that PostgreSQL calls its data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.data()
    }

    /// The file that the server's own log goes to.
    pub fn log_file(&self) -> PathBuf {
        self.folder.log()
    }

    /// The superuser's password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A connection URL. `user`, `password` and `database` stand in it as they are: no reserved characters.
    pub fn url(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The superuser's connection URL.
    pub fn superuser_url(&self, database: &str) -> String {
        self.url(SUPERUSER, &self.password, database)
    }

    /// Stops the server and waits until it is gone. Open connections are ended.
    ///
    /// # Errors
    /// The server does not stop within 30 seconds.
    pub fn stop(mut self) -> Result<()> {
        self.postgres.stop()
    }
}

/// A random hexadecimal word of 128 bits, good as a password that stands in a URL.
///
/// # Errors
/// The operating system has no random bytes.
pub fn random_word() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).context("the operating system gave no random bytes")?;
    let mut word = String::with_capacity(32);
    for byte in bytes {
        write!(word, "{byte:02x}")?;
    }
    Ok(word)
}

/// Makes the data folder unless it is there, and returns the superuser's password.
fn prepare(folder: &Folder, binaries: &Binaries, account: Option<Account>) -> Result<String> {
    if let Some(major) = folder.major() {
        ensure!(
            major == binaries.major(),
            "{folder} was made by PostgreSQL {major}, and this is PostgreSQL {}: give another data folder",
            binaries.major()
        );
        let path = folder.password();
        return fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()));
    }
    let password = random_word()?;
    write_password(&folder.password(), &password, account)?;
    // Made under another name first, so that an interrupted start leaves no half a data folder.
    let unfinished = folder.unfinished();
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).with_context(|| format!("cannot remove {}", unfinished.display()))?;
    }
    fs::create_dir(&unfinished).with_context(|| format!("cannot make {}", unfinished.display()))?;
    account.map_or(Ok(()), |account| account.own(&unfinished))?;

    let mut initdb = command(&binaries.program("initdb"), folder.path(), account);
    initdb.arg("-D").arg(&unfinished).args(["-U", SUPERUSER, "--auth=scram-sha-256", "--encoding=UTF8"]);
    initdb.args(["--locale=C", "--no-sync", "--no-instructions"]);
    if binaries.major() >= 17 {
        initdb.args(["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]);
    }
    initdb.arg(format!("--pwfile={}", folder.password().display()));
    let output = initdb.output().context("cannot run initdb")?;
    ensure!(
        output.status.success(),
        "initdb could not make {}: {}",
        unfinished.display(),
        one_line(&String::from_utf8_lossy(&output.stderr))
    );
    fs::rename(&unfinished, folder.data()).context("cannot put the new data folder in its place")?;
    Ok(password)
}

fn write_password(path: &Path, password: &str, account: Option<Account>) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .with_context(failed)?;
    file.write_all(password.as_bytes()).with_context(failed)?;
    account.map_or(Ok(()), |account| account.own(path))
}

/// Why a launch failed, as far as it decides what to do next.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("port {0} on 127.0.0.1 is in use: free it or give another one")]
    PortTaken(u16),
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

fn launch(
    folder: &Folder,
    binaries: &Binaries,
    account: Option<Account>,
    port: u16,
    settings: &[(String, String)],
) -> Result<Supervised, Failure> {
    let mut arguments = vec!["-D".into(), folder.data().into_os_string()];
    let port_word = port.to_string();
    let fixed = ["-p", &port_word, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
    arguments.extend(fixed.map(Into::into));
    for (name, value) in settings {
        arguments.extend(["-c".into(), format!("{name}={value}").into()]);
    }
    let before = folder.process_file();
    let mut postgres = Supervised::start(Program {
        path: &binaries.program("postgres"),
        arguments,
        account,
        folder: folder.path(),
        log: folder.log(),
        stop_signal: folder.stop_signal(),
        scratch: folder.scratch(),
    })?;
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let now = folder.process_file();
        // What an earlier server left behind may say `ready` as well.
        if now != before
            && now.lines().nth(7).is_some_and(|state| matches!(state.trim(), "ready" | "standby"))
        {
            return Ok(postgres);
        }
        if postgres.ended()? {
            return Err(explain(folder, port, &postgres.output()));
        }
        if Instant::now() > deadline {
            return Err(anyhow!("postgres was not ready in time; see {}", folder.log().display()).into());
        }
        thread::sleep(POLL);
    }
}

/// The cause of a failed start, from the server's log.
fn explain(folder: &Folder, port: u16, log: &str) -> Failure {
    if log.contains("could not bind") || log.contains("could not create any TCP/IP sockets") {
        return Failure::PortTaken(port);
    }
    if log.contains("postmaster.pid\" already exists") {
        return anyhow!("another server runs in {folder}: stop it, or give another data folder").into();
    }
    anyhow!("postgres did not start: {}", one_line(log)).into()
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr().context("no free port on 127.0.0.1")?.port())
}

/// The last lines of an output as one.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines.len().saturating_sub(4);
    lines.get(end..).unwrap_or_default().join("; ")
}

#[cfg(test)]
mod tests {
    use super::{one_line, random_word};

    #[test]
    fn only_the_last_lines_of_an_output_are_told() {
        assert_eq!(one_line("a\n\n b\nc\nd\ne\n"), "b; c; d; e");
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn two_random_words_differ() -> anyhow::Result<()> {
        let (one, other) = (random_word()?, random_word()?);
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
        Ok(())
    }
}
