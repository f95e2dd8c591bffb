//! What is to be served, worked out from the command line before anything is started.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use pg::{ConnectOptions, Connection, Target};
use serde_json::{Value, json};
use state::{CredentialId, Flow};
use tokio::time::Instant;

use super::data::DataFolder;
use crate::arguments::Serve;

/// The worked example of pinned queries, on one node.
const DEMO_FLOW: &str = include_str!("../demo_flow.json");
const LOCAL_FLOW: &str = r#"{"id": "local", "name": "Local", "kind": "chatflow", "nodes": [
    {"id": "db", "name": "Local database", "actions": ["query", "catalog"]}]}"#;

/// How long the caller's database may take to let us in before we say that it does not.
const PATIENCE: Duration = Duration::from_secs(5);

/// The database behind the default credential.
#[derive(Debug)]
pub(crate) enum Source {
    Demo,
    /// The caller's own.
    Own {
        url: String,
        target: Box<Target>,
    },
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) source: Source,
    pub(crate) flow: Flow,
    /// Whether it is a flow of pinguard's own and not a document of the caller's.
    pub(crate) is_built_in: bool,
    /// What is served, for people.
    pub(crate) title: String,
}

impl Source {
    fn title(&self) -> String {
        match self {
            Self::Demo => "its demo".to_owned(),
            Self::Own { target, .. } => {
                format!("the database `{}` as `{}`", target.database(), target.user())
            }
        }
    }

    /// Warns where the caller's database does not let us in. It may still come up, so this ends nothing.
    pub(crate) async fn try_out(&self) {
        let Self::Own { target, .. } = self else { return };
        let options = ConnectOptions { connect_timeout: PATIENCE, deadline: Instant::now() + PATIENCE };
        match Connection::open(target, options).await {
            Ok(connection) => connection.close().await,
            Err(error) => tracing::warn!("the database cannot be used yet: {error}; {}", error.hint()),
        }
    }
}

impl Plan {
    /// # Errors
    /// The URL or the flow document is wrong; all problems of the document are told.
    pub(crate) fn new(arguments: &Serve) -> Result<Self> {
        let source = match &arguments.database_url {
            None => Source::Demo,
            Some(url) => {
                let target = Target::parse(url).context("--database-url")?;
                Source::Own { url: url.clone(), target: Box::new(target) }
            }
        };
        let flow = match (&arguments.flow, &source) {
            (Some(path), _) => read_flow(path)?,
            (None, Source::Demo) => Flow::from_json(DEMO_FLOW)?,
            (None, Source::Own { .. }) => Flow::from_json(LOCAL_FLOW)?,
        };
        let title = match arguments.flow {
            Some(_) => format!("the flow `{}`", flow.name),
            None => source.title(),
        };
        Ok(Self { source, flow, is_built_in: arguments.flow.is_none(), title })
    }

    /// What is served as the command line has it. Another password is no other beginning, another database is.
    pub(crate) fn beginning(&self) -> String {
        let database = match &self.source {
            Source::Demo => Value::Null,
            Source::Own { target, .. } => {
                let (host, port) = (target.host().to_string(), target.port());
                json!({"host": host, "port": port, "name": target.database(), "user": target.user()})
            }
        };
        json!({"database": database, "flow": self.flow.to_json()}).to_string()
    }

    /// The names of the pins of the document.
    pub(crate) fn pins(&self) -> Vec<String> {
        let pins = self.flow.nodes.iter().flat_map(|node| &node.pins);
        pins.map(|pin| pin.name().to_string()).collect()
    }

    /// The credentials that nodes name. Each needs a file with its URL among the secrets.
    ///
    /// # Errors
    /// A file is missing; the message says where it belongs.
    pub(crate) fn credentials(&self, data: &DataFolder) -> Result<Vec<&CredentialId>> {
        let mut credentials = Vec::new();
        for node in &self.flow.nodes {
            let Some(credential) = &node.credential else { continue };
            let file = data.secrets().join(credential.as_str());
            ensure!(
                file.is_file(),
                "node `{}` names the credential `{credential}`: write its connection URL to {}",
                node.id.as_str(),
                file.display(),
                credential = credential.as_str()
            );
            credentials.push(credential);
        }
        Ok(credentials)
    }
}

fn read_flow(path: &Path) -> Result<Flow> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let flow = Flow::from_json(&text).with_context(|| path.display().to_string())?;
    ensure!(!flow.nodes.is_empty(), "{}: the flow has no node to serve", path.display());
    Ok(flow)
}
