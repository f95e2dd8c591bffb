//! `pinguard serve`: an embedded PostgreSQL, the control database, and the endpoint on loopback.

mod announce;
pub(crate) mod data;
pub(crate) mod databases;
mod editor;
mod plan;

use std::{io, net::Ipv4Addr, sync::Arc};

use anyhow::{Context as _, Result, bail};
use mcp::{App, Callers};
use state::{Control, Credential, FlowStage, NewKey, Scope, SecretStore};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use self::{
    announce::{ASK_DEMO, LIST_TOOLS, Ready, Voice},
    data::{CONTROL_SECRET, DATABASE_SECRET, DataFolder, Key},
    editor::Door,
    plan::{Plan, Source},
};
use crate::{
    arguments::Serve,
    embedded::{Binaries, Server, ServerOptions},
    endpoint, listener,
};

/// The workspace of a machine.
pub(crate) const WORKSPACE: &str = "local";

/// Starts everything, serves until a signal asks for the end, and ends everything.
pub(crate) async fn serve(arguments: Serve) -> Result<()> {
    let plan = Plan::new(&arguments)?;
    let data = DataFolder::open(arguments.data)?;
    let credentials = plan.credentials(&data)?;
    let listener = listen(arguments.port).await?;
    let port = listener.local_addr().context("the listener has no address")?.port();
    let mut end = Box::pin(signalled()?);

    let home = data.home();
    let starting = tokio::task::spawn_blocking(move || {
        let binaries = Binaries::find(home.major())?;
        Server::start(&ServerOptions { binaries, home, port: None, settings: Vec::new() })
    });
    // The start is not broken off: an interrupted one would leave a server to its watcher alone.
    let server = starting.await.context("the embedded server could not be started")??;

    let control_url = databases::control(&server).await?;
    data.write_secret(CONTROL_SECRET, &control_url)?;
    let database_url = match &plan.source {
        Source::Demo => databases::demo(&server).await?,
        Source::Own { url, .. } => url.clone(),
    };
    data.write_secret(DATABASE_SECRET, &database_url)?;
    plan.source.try_out().await;

    let secrets = Arc::new(SecretStore::Files(data.secrets()));
    let control = Control::new(Arc::clone(&secrets), CONTROL_SECRET.to_owned());
    control.migrate().await.context("cannot set up the control database")?;
    for id in credentials {
        let credential = Credential { id, name: id.as_str(), secret_id: id.as_str() };
        control.put_credential(WORKSPACE, &credential).await?;
    }
    control.put_flow(WORKSPACE, &plan.flow, FlowStage::Live).await?;
    databases::only_live(&control_url, WORKSPACE, plan.flow.id.as_str()).await?;
    let key = if arguments.no_auth { None } else { Some(data.key()?) };
    if let Some(Key { token, .. }) = &key {
        let new = NewKey { name: "local", hash: token.hash(), scopes: &Scope::ALL, flows: None };
        control.put_key(WORKSPACE, &new).await?;
    } else {
        tracing::warn!("no key is asked for: every program and every user of this machine may call");
    }

    let voice = if arguments.json { Voice::Json } else { Voice::Text };
    let auditor = editor::auditor(&secrets, &data)?;
    let (callers, door) = match &key {
        Some(_) => (Callers::ApiKeys, Door::Keys),
        None => (Callers::Anyone { workspace: WORKSPACE.to_owned() }, Door::Open),
    };
    let editor = Arc::new(editor::app(&secrets, &auditor, door, port));
    let (journal, written) = editor::journal(voice, auditor);
    let settings = endpoint::settings(port, DATABASE_SECRET);
    let app = Arc::new(App {
        settings,
        secrets,
        control,
        callers,
        journal,
        stamp_keys: None,
        memories: mcp::Memories::default(),
    });
    ready(&plan, &data, port, key, database_url, control_url)?.tell(voice)?;

    let handler = move |request| endpoint::answer(Arc::clone(&app), Arc::clone(&editor), request);
    listener::serve(listener, handler, &mut end).await;
    editor::settle(written).await;
    let stopped = tokio::task::spawn_blocking(move || server.stop()).await;
    data.forget_secrets()?;
    stopped.context("the embedded server could not be stopped")?
}

async fn listen(port: u16) -> Result<TcpListener> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            bail!("port {port} on 127.0.0.1 is in use: end what listens there, or give another with --port")
        }
        Err(error) => Err(error).with_context(|| format!("cannot listen on 127.0.0.1:{port}")),
    }
}

/// Resolves at the first Ctrl-C or request to terminate.
fn signalled() -> Result<impl Future<Output = ()>> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let (mut interrupt, mut terminate, mut hangup) =
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

fn ready(
    plan: &Plan,
    data: &DataFolder,
    port: u16,
    key: Option<Key>,
    database_url: String,
    control_url: String,
) -> Result<Ready> {
    let flow = plan.flow.id.as_str();
    let mut nodes = plan.flow.nodes.iter().map(|node| node.id.as_str());
    let node = nodes.next().context("the flow has no node to serve")?;
    let url = |node: &str| format!("http://127.0.0.1:{port}/mcp/{flow}/{node}");
    let example = match &plan.source {
        Source::Demo if flow == "demo" => ASK_DEMO,
        Source::Demo | Source::Own { .. } => LIST_TOOLS,
    };
    Ok(Ready {
        mcp_url: url(node),
        api_url: format!("http://127.0.0.1:{port}/api/v1"),
        key: key.map(|key| key.text),
        database_url,
        control_url,
        flow: flow.to_owned(),
        node: node.to_owned(),
        workspace: WORKSPACE.to_owned(),
        more_urls: nodes.map(url).collect(),
        data: data.path().display().to_string(),
        what: plan.title.clone(),
        example,
    })
}
