//! Each way in which Secrets Manager has no secret for a call: what the caller gets, and that the log keeps quiet of values.

use std::{
    fs,
    io::{BufReader, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    PATH, TIME, content,
    emulator::{Function, read_request},
    events::{FrontDoor, event, query},
    publish, start,
};
use crate::support::{self, command::Folder};

/// What it does with a call for the node's secret.
#[derive(Debug, Clone)]
enum Answer {
    /// A status and a body.
    Says(u16, String),
    /// The line is cut.
    Cuts,
    /// Nothing comes.
    Silence,
}

/// A Secrets Manager that has the control database's secret, and answers for any other as it is told.
struct Stub {
    url: String,
    answer: Arc<Mutex<Answer>>,
}

impl Stub {
    fn start(control: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(Answer::Cuts));
        let (told, control) = (Arc::clone(&answer), value(control));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (told, control) = (Arc::clone(&told), control.clone());
                thread::spawn(move || serve(&stream.unwrap(), &control, &told));
            }
        });
        Self { url, answer }
    }

    fn tell(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }
}

/// The answer that holds a secret's text.
fn value(text: &str) -> String {
    json!({"Name": "n", "SecretString": text, "VersionId": "3a1d9c1e-0b1f-4d7f-9d3e-000000000001"})
        .to_string()
}

/// An error as AWS sends it.
fn error(status: u16, kind: &str, message: &str) -> Answer {
    Answer::Says(status, json!({"__type": kind, "message": message}).to_string())
}

/// Answers the requests of one connection.
fn serve(mut stream: &TcpStream, control: &str, told: &Mutex<Answer>) {
    let mut reader = BufReader::new(stream);
    while let Some((_, body)) = read_request(&mut reader) {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let answer = match body["SecretId"].as_str() {
            Some("pinguard/control") => Answer::Says(200, control.to_owned()),
            _ => told.lock().unwrap().clone(),
        };
        match answer {
            Answer::Says(status, body) => {
                let head = "content-type: application/x-amz-json-1.1\r\ncontent-length";
                write!(stream, "HTTP/1.1 {status} Said\r\n{head}: {}\r\n\r\n{body}", body.len()).unwrap();
            }
            Answer::Cuts => return,
            Answer::Silence => thread::sleep(TIME),
        }
    }
}

#[tokio::test]
async fn each_cause_has_its_code_and_its_next_step_and_ends_with_itself() {
    let folder = Folder::new();
    let database = support::database(18).await;
    let login = database.reader(&["public"]).await;
    let key = publish(&database).await;
    let stub = Stub::start(&database.url);
    let log = folder.0.join("function.log");
    let mut function: Function = start(&stub.url, &[], &log);
    let mut ask = || {
        let call = event(FrontDoor::FunctionUrl, "POST", PATH, Some(key.text()), &query("SELECT 1"));
        content(&function.invoke(&call, TIME))
    };
    let said = |text: &str| Answer::Says(200, value(text));
    for (answer, code, hint) in [
        (
            error(400, "AccessDeniedException", "User hunter2 is not"),
            "secret_denied",
            "secretsmanager:GetSecretValue",
        ),
        (error(400, "DecryptionFailure", "hunter2"), "secret_denied", "kms:Decrypt"),
        (error(400, "ThrottlingException", "Rate exceeded"), "secret_throttled", "in a few seconds"),
        (error(400, "ResourceNotFoundException", "can't find"), "secret_missing", "create the secret"),
        (error(400, "InvalidRequestException", "marked for deletion"), "secret_missing", "create the secret"),
        (error(500, "InternalServiceError", "hunter2"), "secret_store_unreachable", "NAT"),
        (Answer::Cuts, "secret_store_unreachable", "NAT"),
        (Answer::Says(200, "{".to_owned()), "secret_unreadable", "by hand"),
        (
            Answer::Says(200, json!({"Name": "n", "SecretBinary": "aHVudGVyMg=="}).to_string()),
            "secret_binary",
            "UTF-8",
        ),
        (said(" \n"), "secret_empty", "write the value"),
        (said("mysql://u:hunter2@h/d"), "secret_malformed", "postgresql://"),
        (said(r#"{"host": 5, "password": "hunter2"}"#), "secret_malformed", "postgresql://"),
        (Answer::Silence, "secret_store_unreachable", "endpoint for Secrets Manager"),
    ] {
        stub.tell(answer.clone());
        let since = Instant::now();
        let failure = ask();
        assert_eq!(
            (&failure["code"], &failure["outcome"]),
            (&json!(code), &json!("unexpected")),
            "{answer:?}"
        );
        assert!(failure["hint"].as_str().unwrap().contains(hint), "{failure}");
        assert!(!failure.to_string().contains("hunter2"), "{failure}");
        assert!(since.elapsed() < Duration::from_secs(12), "{answer:?} took {:?}", since.elapsed());
        stub.tell(said(&login.url));
        assert_eq!(ask()["rows"], json!([[1]]), "after {answer:?}");
    }
    let log = fs::read_to_string(&log).unwrap();
    assert!(!log.contains(":hunter2@") && !log.contains(&login.password), "{log}");
}
