//! A client of the endpoint, as plain as `curl`.

use std::net::Ipv4Addr;

use http::{HeaderMap, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| {
            panic!("status {}, no JSON: {}", self.status, String::from_utf8_lossy(&self.body))
        })
    }
}

/// Sends one request over a connection of its own.
pub(crate) async fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let uri: Uri = url.parse().unwrap();
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, uri.port_u16().unwrap())).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request =
        Request::builder().method(method).uri(uri.path()).header("host", uri.authority().unwrap().as_str());
    for &(name, value) in headers {
        request = request.header(name, value);
    }
    let answer =
        sender.send_request(request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()).await.unwrap();
    let (parts, body) = answer.into_parts();
    Reply {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.collect().await.unwrap().to_bytes(),
    }
}

/// Posts a JSON body, with a key if there is one.
pub(crate) async fn post(url: &str, key: Option<&str>, body: &Value) -> Reply {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    send("POST", url, &headers, &body.to_string()).await
}

/// Calls a tool and gives the `result` of the answer.
pub(crate) async fn call(url: &str, key: Option<&str>, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let reply =
        post(url, key, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let answer = reply.json();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}
