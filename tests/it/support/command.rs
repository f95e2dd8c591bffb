//! The `pinguard` command as a process.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use local::embedded::random_word;
use serde_json::Value;

/// How long anything that must come or go may take.
const LIMIT: Duration = Duration::from_mins(1);

/// A folder below the temporary one that goes with its value.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("pinguard-{}", random_word().unwrap()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A running `pinguard serve`; it is killed with its value, unless it was ended before.
pub(crate) struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    errors: PathBuf,
    data: PathBuf,
}

impl Serving {
    /// Starts it on a free port with its data in a folder.
    pub(crate) fn start(data: &Path, arguments: &[&str]) -> Self {
        let errors = data.join("stderr");
        let mut child = serve(data, arguments)
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, errors, data: data.to_owned() }
    }

    /// The next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.out.read_line(&mut line).unwrap() > 0, "it ended: {}", self.stderr());
        line
    }

    /// The line that `--json` prints when ready.
    pub(crate) fn ready(&mut self) -> Ready {
        Ready(serde_json::from_str(&self.line()).unwrap())
    }

    /// The most memory that it has held so far, in bytes.
    pub(crate) fn peak_memory(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
    }

    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }

    /// The process of the embedded server.
    pub(crate) fn postgres(&self) -> u32 {
        let file = fs::read_to_string(self.data.join("postgres/postmaster.pid")).unwrap();
        file.lines().next().unwrap().parse().unwrap()
    }

    /// Sends a signal by name and waits for the end. Gives the exit code; none after a kill.
    pub(crate) fn signal(&mut self, name: &str) -> Option<i32> {
        assert!(kill(name, self.child.id()), "no process to send {name} to");
        until("the command ends", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let postgres = fs::read_to_string(self.data.join("postgres/postmaster.pid"));
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its folder is about to go.
        if let Some(pid) =
            postgres.ok().and_then(|file| file.lines().next().and_then(|line| line.parse().ok()))
        {
            let since = Instant::now();
            while alive(pid) && since.elapsed() < LIMIT {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// What `--json` tells.
#[derive(Debug)]
pub(crate) struct Ready(pub(crate) Value);

impl Ready {
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_else(|| panic!("`{name}` is no text in {}", self.0))
    }

    pub(crate) fn url(&self) -> &str {
        self.get("mcp_url")
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.0["key"].as_str()
    }
}

/// Runs it where it must fail, and gives what it said.
pub(crate) fn fails(data: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = serve(data, arguments).output().unwrap();
    assert!(!status.success(), "it went well: {}", String::from_utf8_lossy(&stdout));
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn serve(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pinguard-under-test"));
    command.args(["serve", "--data"]).arg(data).args(arguments);
    if !arguments.contains(&"--port") {
        command.args(["--port", "0"]);
    }
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// Whether a process is there.
pub(crate) fn alive(pid: u32) -> bool {
    kill("0", pid)
}

/// The shell's own `kill`, because not every machine has the program.
fn kill(signal: &str, pid: u32) -> bool {
    let line = format!("kill -s {signal} {pid}");
    Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status().unwrap().success()
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < LIMIT, "in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
