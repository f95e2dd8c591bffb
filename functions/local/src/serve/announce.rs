//! What the command says when it is ready.

use std::io::{self, Write};

use serde::Serialize;

/// How the readiness is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// For people.
    Text,
    /// One line for programs.
    Json,
}

/// Where things are.
#[derive(Debug, Serialize)]
pub(crate) struct Ready {
    pub(crate) mcp_url: String,
    pub(crate) api_url: String,
    /// Absent where callers need none.
    pub(crate) key: Option<String>,
    pub(crate) database_url: String,
    pub(crate) control_url: String,
    pub(crate) flow: String,
    pub(crate) node: String,
    pub(crate) workspace: String,
    /// The nodes after the first.
    #[serde(skip)]
    pub(crate) more_urls: Vec<String>,
    /// The pins that the flow began with.
    #[serde(skip)]
    pub(crate) pins: Vec<String>,
    #[serde(skip)]
    pub(crate) data: String,
    /// What is served, for people.
    #[serde(skip)]
    pub(crate) what: String,
    /// A call to try: the parameters of a JSON-RPC request, without single quotes.
    #[serde(skip)]
    pub(crate) example: &'static str,
}

/// Tools that a node has or has not.
pub(crate) const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
/// Sales of the demo.
pub(crate) const ASK_DEMO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","arguments":{"sql":"SELECT region, sum(amount) AS revenue FROM demo_sales GROUP BY region ORDER BY region"}}}"#;

impl Ready {
    /// Writes to standard output.
    pub(crate) fn tell(&self, voice: Voice) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match voice {
            Voice::Json => writeln!(out, "{}", serde_json::to_string(self)?)?,
            Voice::Text => self.tell_people(&mut out)?,
        }
        out.flush()
    }

    fn tell_people(&self, out: &mut impl Write) -> io::Result<()> {
        let url = &self.mcp_url;
        writeln!(out, "pinguard serves {} to agents, read only\n", self.what)?;
        writeln!(out, "  MCP URL   {url}")?;
        for more in &self.more_urls {
            writeln!(out, "            {more}")?;
        }
        match &self.key {
            Some(key) => writeln!(out, "  key       {key}")?,
            None => writeln!(out, "  key       none is asked for: whoever is on this machine may call")?,
        }
        let pins =
            if self.pins.is_empty() { "this flow began with none".to_owned() } else { self.pins.join(", ") };
        writeln!(out, "  pins      turned on; {pins}")?;
        writeln!(out, "  data      {}\n", self.data)?;

        writeln!(out, "Try it:\n")?;
        writeln!(out, "  curl -sw '\\n' {url} \\")?;
        if let Some(key) = &self.key {
            writeln!(out, "    -H 'Authorization: Bearer {key}' \\")?;
        }
        writeln!(out, "    -H 'Content-Type: application/json' \\")?;
        writeln!(out, "    -d '{}'\n", self.example)?;

        writeln!(out, "Give it to an agent, by its configuration:\n")?;
        let headers =
            self.key.as_ref().map(|key| serde_json::json!({ "Authorization": format!("Bearer {key}") }));
        let mut server = serde_json::json!({ "type": "http", "url": url });
        if let (Some(headers), Some(server)) = (headers, server.as_object_mut()) {
            server.insert("headers".to_owned(), headers);
        }
        let configuration = serde_json::json!({ "mcpServers": { self.flow.as_str(): server } });
        for line in serde_json::to_string_pretty(&configuration)?.lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "\nCtrl-C ends it.")
    }
}

#[cfg(test)]
mod tests {
    use super::{ASK_DEMO, LIST_TOOLS, Ready};

    fn ready(key: Option<&str>) -> Ready {
        Ready {
            mcp_url: "http://127.0.0.1:8787/mcp/demo/sales".into(),
            api_url: "http://127.0.0.1:8787/api/v1".into(),
            key: key.map(str::to_owned),
            database_url: "postgres://r:secret@127.0.0.1:5/demo".into(),
            control_url: "postgres://c:secret@127.0.0.1:5/pinguard".into(),
            flow: "demo".into(),
            node: "sales".into(),
            workspace: "local".into(),
            more_urls: vec![],
            pins: vec!["pq_one".into(), "pq_two".into()],
            data: "/data".into(),
            what: "its demo".into(),
            example: LIST_TOOLS,
        }
    }

    fn text(ready: &Ready) -> String {
        let mut out = Vec::new();
        ready.tell_people(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn people_are_told_url_and_key_and_how_to_use_them() {
        let expected = r#"pinguard serves its demo to agents, read only

  MCP URL   http://127.0.0.1:8787/mcp/demo/sales
  key       pgk_1
  pins      turned on; pq_one, pq_two
  data      /data

Try it:

  curl -sw '\n' http://127.0.0.1:8787/mcp/demo/sales \
    -H 'Authorization: Bearer pgk_1' \
    -H 'Content-Type: application/json' \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'

Give it to an agent, by its configuration:

  {
    "mcpServers": {
      "demo": {
        "type": "http",
        "url": "http://127.0.0.1:8787/mcp/demo/sales",
        "headers": {
          "Authorization": "Bearer pgk_1"
        }
      }
    }
  }

Ctrl-C ends it.
"#;
        assert_eq!(text(&ready(Some("pgk_1"))), expected);
    }

    #[test]
    fn without_a_key_no_header_is_shown() {
        let text = text(&ready(None));
        assert!(!text.contains("Authorization"), "{text}");
        assert!(text.contains("whoever is on this machine may call"), "{text}");
    }

    #[test]
    fn the_examples_survive_the_single_quotes_of_a_shell() {
        for example in [ASK_DEMO, LIST_TOOLS] {
            assert!(!example.contains('\''));
            serde_json::from_str::<serde_json::Value>(example).unwrap();
        }
    }
}
