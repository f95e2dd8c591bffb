//! The Runtime API of Lambda for one function: starts the real program as Lambda does, hands it events, takes its answers.
//!
//! It stands alone, so that the benchmark can use it as well.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

/// How long a function may take for anything.
const LIMIT: Duration = Duration::from_mins(1);

/// The most bytes of an answer that Lambda takes.
const MOST_BYTES: usize = 6_291_556;

/// What Lambda tells every function of itself.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("AWS_LAMBDA_FUNCTION_NAME", "mcp"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/mcp"),
    ("AWS_LAMBDA_LOG_STREAM_NAME", "stream"),
    ("AWS_REGION", "us-east-1"),
    ("AWS_ACCESS_KEY_ID", "test"),
    ("AWS_SECRET_ACCESS_KEY", "test"),
];

/// A running function. Dropping it kills its process.
pub(crate) struct Function {
    child: Child,
    requests: Receiver<Request>,
    /// The request for an event that has no answer yet.
    waiting: Option<Request>,
    events: u32,
}

/// A request of the function's, and the way to answer it.
struct Request {
    method: String,
    path: String,
    body: Vec<u8>,
    answer: Sender<String>,
}

impl Function {
    /// Starts the program; what it writes goes to the file `log`.
    pub(crate) fn start(program: &Path, environment: &[(&str, &str)], log: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let sender = sender.clone();
                thread::spawn(move || serve(&stream.unwrap(), &sender));
            }
        });
        let output = File::create(log).unwrap();
        let child = Command::new(program)
            .env_clear()
            .envs(ENVIRONMENT.iter().copied())
            .envs(environment.iter().copied())
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        Self { child, requests, waiting: None, events: 0 }
    }

    /// Hands an event over as soon as the function asks for one, and gives its answer. Lambda stops the function after
    /// `time`.
    pub(crate) fn invoke(&mut self, event: &Value, time: Duration) -> Value {
        self.outcome(event, time).unwrap_or_else(|error| panic!("the function failed: {error}"))
    }

    /// The same for an event that may fail: its answer, or what the function says of its failure.
    pub(crate) fn outcome(&mut self, event: &Value, time: Duration) -> Result<Value, Value> {
        let next = self.waiting.take().unwrap_or_else(|| self.request());
        assert_eq!(
            (next.method.as_str(), next.path.as_str()),
            ("GET", "/2018-06-01/runtime/invocation/next")
        );
        self.events += 1;
        let id = format!("event-{}", self.events);
        let deadline = (SystemTime::now() + time).duration_since(UNIX_EPOCH).unwrap().as_millis();
        let headers = format!(
            "lambda-runtime-aws-request-id: {id}\r\nlambda-runtime-deadline-ms: {deadline}\r\n\
             lambda-runtime-invoked-function-arn: arn:aws:lambda:us-east-1:123456789012:function:mcp\r\n"
        );
        next.answer.send(response("200 OK", &headers, &event.to_string())).unwrap();
        let done = self.request();
        let body = String::from_utf8(done.body).unwrap();
        done.answer.send(response("202 Accepted", "", "")).unwrap();
        assert!(body.len() <= MOST_BYTES, "Lambda takes no answer of {} bytes", body.len());
        let answer = serde_json::from_str(&body).unwrap();
        match done.path.strip_prefix(&format!("/2018-06-01/runtime/invocation/{id}/")) {
            Some("response") => Ok(answer),
            Some("error") => Err(answer),
            _ => panic!("{}: {body}", done.path),
        }
    }

    /// Asks the process to end, as Lambda does before it takes an instance away, and gives the time until it has.
    pub(crate) fn terminate(&mut self) -> Duration {
        let since = Instant::now();
        self.signal("TERM");
        while self.child.try_wait().unwrap().is_none() {
            assert!(since.elapsed() < LIMIT, "the function does not end");
            thread::sleep(Duration::from_millis(5));
        }
        since.elapsed()
    }

    /// Waits until the function asks for its next event: only then is it frozen.
    pub(crate) fn settle(&mut self) {
        if self.waiting.is_none() {
            self.waiting = Some(self.request());
        }
    }

    /// Stops the process where it waits for its next event, as Lambda does between two.
    pub(crate) fn freeze(&mut self) {
        self.settle();
        self.signal("STOP");
        let since = Instant::now();
        while !self.status("State:").starts_with('T') {
            assert!(since.elapsed() < LIMIT, "the function does not stop");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal("CONT");
    }

    /// The most memory that the process has had, in kilobytes.
    pub(crate) fn peak_kilobytes(&self) -> u64 {
        self.status("VmHWM:").trim_end_matches(" kB").parse().unwrap()
    }

    fn status(&self, name: &str) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    fn request(&mut self) -> Request {
        let since = Instant::now();
        loop {
            if let Ok(request) = self.requests.recv_timeout(Duration::from_millis(200)) {
                return request;
            }
            assert!(self.child.try_wait().unwrap().is_none(), "the function has ended");
            assert!(since.elapsed() < LIMIT, "the function says nothing");
        }
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next request of a connection: the lines of its head in lower case, and its body. None where it has ended.
pub(super) fn read_request(reader: &mut impl BufRead) -> Option<(Vec<String>, Vec<u8>)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push(line.trim_end().to_ascii_lowercase());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// Reads the requests of one connection, and writes the answer to each.
fn serve(stream: &TcpStream, requests: &Sender<Request>) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let Some((head, body)) = read_request(&mut reader) else { return };
        let mut words = head[0].split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap().to_ascii_uppercase(), words.next().unwrap());
        let (answer, answered) = channel();
        if requests.send(Request { method, path, body, answer }).is_err() {
            return;
        }
        // The function is gone, or nobody wants anything of it any more.
        let Ok(answer) = answered.recv() else { return };
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
}
