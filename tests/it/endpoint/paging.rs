//! Results of several pages: what their pages hold, where they end, whose they are, and what is left when the cache fails.

mod ends;
mod faults;
mod pages;
mod pins;
mod refusals;

use serde_json::{Value, json};
use state::{ApiKey, NewKey, Scope};

use super::{Endpoint, Reply, Setup};

/// So many rows, each with its number and a word.
fn rows(count: u32) -> String {
    format!("SELECT i AS n, 'row ' || i AS word FROM generate_series(1, {count}) AS i ORDER BY i")
}

/// The numbers of the rows of an answer.
fn numbers(answer: &Value) -> Vec<u64> {
    let rows = answer["rows"].as_array().unwrap_or_else(|| panic!("{answer}"));
    rows.iter().map(|row| row[0].as_u64().unwrap()).collect()
}

fn cursor(answer: &Value) -> String {
    answer["cursor"].as_str().unwrap_or_else(|| panic!("no cursor in {answer}")).to_owned()
}

fn summary(answer: &Value) -> &str {
    answer["summary"].as_str().unwrap_or_else(|| panic!("no summary in {answer}"))
}

fn numbered(from: u64, to: u64) -> Vec<u64> {
    (from..=to).collect()
}

/// A node of pages of so many rows.
fn pages_of(rows: u32) -> Setup {
    Setup::node(json!({"rowCap": rows}))
}

impl Endpoint {
    async fn next_page(&self, cursor: &str) -> Value {
        self.good("next_page", json!({"cursor": cursor})).await
    }

    /// Every row of a result, page by page.
    async fn all(&self, first: Value) -> Vec<u64> {
        let (mut all, mut answer) = (numbers(&first), first);
        while answer["cursor"].is_string() {
            assert_eq!(answer["truncated"], true, "{answer}");
            answer = self.next_page(&cursor(&answer)).await;
            all.extend(numbers(&answer));
        }
        assert_eq!(answer["truncated"], false, "{answer}");
        all
    }

    /// Another caller of the same node.
    async fn key(&self, number: u8, name: &str) -> ApiKey {
        let key = ApiKey::from_random([number; 32]);
        let new = NewKey { name, hash: key.hash(), scopes: &[Scope::McpCall], flows: None };
        self.app.control.put_key("w", &new).await.unwrap();
        key
    }

    async fn call_as(&self, key: &ApiKey, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let mut request = self.request(message.to_string());
        request.headers_mut().insert("authorization", format!("Bearer {}", key.text()).parse().unwrap());
        let reply: Reply = self.send(request).await;
        reply.json()["result"]["structuredContent"].clone()
    }
}
