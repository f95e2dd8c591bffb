//! Secrets Manager on this machine: moto, which `scripts/lib/python.sh` installs.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use local::supervised::{Program, Supervised};
use serde_json::{Value, json};

/// How long it may take to start: Python reads some hundred files.
const LIMIT: Duration = Duration::from_mins(1);

/// Who asks, and for what: moto tells its services apart by this header, and checks no signature.
const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=test/20261130/us-east-1/secretsmanager/aws4_request, \
     SignedHeaders=host, Signature=0";

/// A running moto. Dropping it ends it.
pub(crate) struct SecretsManager {
    port: u16,
    log: PathBuf,
    _process: Supervised,
}

impl SecretsManager {
    /// Starts it with its log in a folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python/bin/moto_server");
        let program = fs::canonicalize(&program)
            .expect("no moto under target/python: run scripts/test, which installs it");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let log = folder.join("moto.log");
        let process = Supervised::start(Program {
            path: &program,
            arguments: ["-H", "127.0.0.1", "-p", &port.to_string()].map(Into::into).to_vec(),
            account: None,
            folder,
            log: log.clone(),
            stop_signal: "TERM",
            scratch: None,
        })
        .unwrap();
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(since.elapsed() < LIMIT, "moto does not start: {}", process.output());
            thread::sleep(Duration::from_millis(50));
        }
        Self { port, log, _process: process }
    }

    /// What `AWS_ENDPOINT_URL` is to be.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many requests it has had.
    pub(crate) fn requests(&self) -> usize {
        fs::read_to_string(&self.log).unwrap().matches("\"POST / HTTP/1.1\" 200").count()
    }

    /// Makes a secret.
    pub(crate) fn create(&self, name: &str, text: &str) {
        self.ask("CreateSecret", &json!({"Name": name, "SecretString": text}));
    }

    /// Gives a secret a new value: one in use (`AWSCURRENT`), or one that a rotation has only written (`AWSPENDING`).
    pub(crate) fn put(&self, name: &str, text: &str, stage: &str) {
        self.ask(
            "PutSecretValue",
            &json!({"SecretId": name, "SecretString": text, "VersionStages": [stage]}),
        );
    }

    /// Removes a secret for good.
    pub(crate) fn delete(&self, name: &str) {
        self.ask("DeleteSecret", &json!({"SecretId": name, "ForceDeleteWithoutRecovery": true}));
    }

    fn ask(&self, action: &str, body: &Value) {
        let body = body.to_string();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        let request = format!(
            "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: {AUTHORIZATION}\r\nx-amz-target: secretsmanager.{action}\r\n\
             content-type: application/x-amz-json-1.1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{action}: {answer}");
    }
}
