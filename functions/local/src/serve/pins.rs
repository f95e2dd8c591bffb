//! The demo's pins, tested when they are new: by the route that an editor uses, so that their stamps are as good as any.

use anyhow::{Context as _, Result, bail};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use pin_test::App;
use pins::Pin;
use serde_json::{Value, json};
use state::Flow;
use tokio::time::Instant;

use crate::endpoint::LATEST;

/// The values of the worked example, by parameter.
fn samples() -> Value {
    json!({"month": "2026-01-01", "n": 2})
}

/// The flow with a stamp on each pin that lacks one. The flow must be saved.
///
/// # Errors
/// A pin does not pass.
pub(crate) async fn tested(app: &App, key: Option<&str>, flow: &Flow) -> Result<Flow> {
    let mut document = flow.to_json();
    for node in entries(&mut document, "nodes") {
        let node_id = node.get("id").cloned().unwrap_or_default();
        for pin in entries(node, "pins") {
            if pin.get("stamp").is_none_or(Value::is_null) {
                let stamp = test(app, key, flow.id.as_str(), &node_id, pin).await?;
                if let Some(pin) = pin.as_object_mut() {
                    pin.insert("stamp".to_owned(), stamp);
                }
            }
        }
    }
    Flow::from_json(&document.to_string()).context("the tested flow cannot be read")
}

fn entries<'a>(of: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    of.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

async fn test(app: &App, key: Option<&str>, flow: &str, node: &Value, pin: &Value) -> Result<Value> {
    let parsed =
        Pin::from_json(pin).map_err(|problems| anyhow::anyhow!("a pin cannot be read: {problems:?}"))?;
    let names = |name: &str| parsed.params().iter().any(|param| param.name().as_str() == name);
    let mut values = samples();
    if let Some(values) = values.as_object_mut() {
        values.retain(|name, _| names(name));
    }
    let body = json!({"nodeId": node, "pin": pin, "values": values});
    let mut request = Request::post(format!("{}{flow}/test", pin_test::PATH))
        .header("host", "localhost")
        .header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let request = request.body(Full::new(Bytes::from(body.to_string()))).context("no request")?;
    let answer = pin_test::handle(app, request, Instant::now() + LATEST).await;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    let body: Value = serde_json::from_slice(&body).context("the test's answer is no JSON")?;
    let field = |name: &str| body.get(name).cloned().unwrap_or_default();
    if !status.is_success() {
        bail!("the pin `{}` did not pass its test: {}", parsed.name(), field("error"));
    }
    Ok(field("stamp"))
}
