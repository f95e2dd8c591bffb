//! `pinguard serve`: an embedded PostgreSQL, the control database, and the endpoint on loopback.

mod announce;
pub(crate) mod data;
pub(crate) mod databases;
mod editor;
mod pins;
mod plan;

use std::{io, net::Ipv4Addr, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use mcp::App;
use state::{Cache, Control, Credential, FlowStage, Limiter, NewKey, Scope, SecretStore};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::Instant,
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
    endpoint::{self, Functions},
    listener,
};

/// The workspace of a machine.
pub(crate) const WORKSPACE: &str = "local";

/// How long the control database may take with a question at the start.
const START_TIME: Duration = Duration::from_secs(20);

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
    data.stamp_key()?;
    let key = if arguments.no_auth { None } else { Some(data.key()?) };
    if let Some(Key { token, .. }) = &key {
        let new = NewKey { name: "local", hash: token.hash(), scopes: &Scope::ALL, flows: None };
        control.put_key(WORKSPACE, &new).await?;
    } else {
        tracing::warn!("no key is asked for: every program and every user of this machine may call");
    }

    let voice = if arguments.json { Voice::Json } else { Voice::Text };
    let auditor = editor::auditor(&secrets, &data)?;
    let door = if key.is_some() { Door::Keys } else { Door::Open };
    let flows = editor::app(&secrets, &auditor, door, port);
    let pin_test = editor::tests(&secrets, &auditor, door, port);
    if !goes_on(&plan, &data, &control).await? {
        databases::only_live(&control_url, WORKSPACE, plan.flow.id.as_str()).await?;
        begin(&plan, &control, &pin_test, key.as_ref()).await?;
        data.begin_with(&plan.beginning())?;
    }
    let (journal, written) = editor::journal(voice, auditor);
    let cache = Arc::new(cache(arguments.cache));
    let mcp = Arc::new(App {
        settings: endpoint::settings(port, DATABASE_SECRET),
        stamp_keys: Some(editor::stamp_keys(&secrets)),
        secrets,
        control,
        callers: door.callers(),
        journal,
        limiter: Limiter::new(Arc::clone(&cache)),
        cache,
        memories: mcp::Memories::keeping(service::Limits::default().idle()),
    });
    ready(&plan, &data, port, key, database_url, control_url)?.tell(voice)?;

    let functions = Arc::new(Functions { mcp, flows, pin_test });
    let handler = move |request| endpoint::answer(Arc::clone(&functions), request);
    listener::serve(listener, handler, &mut end).await;
    editor::settle(written).await;
    let stopped = tokio::task::spawn_blocking(move || server.stop()).await;
    data.forget_secrets()?;
    stopped.context("the embedded server could not be stopped")?
}

/// Whether an earlier run began as this one would: then its flows are left as their editors have them.
async fn goes_on(plan: &Plan, data: &DataFolder, control: &Control) -> Result<bool> {
    if !data.began_with(&plan.beginning()) {
        return Ok(false);
    }
    let id = plan.flow.id.as_str();
    Ok(control.open_flow(WORKSPACE, id, Instant::now() + START_TIME).await?.is_some())
}

/// Makes the flow Live, and tests the demo's pins.
async fn begin(plan: &Plan, control: &Control, tests: &pin_test::App, key: Option<&Key>) -> Result<()> {
    control.put_flow(WORKSPACE, &plan.flow, FlowStage::Live).await?;
    if let (Source::Demo, true) = (&plan.source, plan.is_built_in) {
        let tested = pins::tested(tests, key.map(|key| key.text.as_str()), &plan.flow).await?;
        control.put_flow(WORKSPACE, &tested, FlowStage::Live).await?;
    }
    Ok(())
}

/// What instances share: the cache that was named, or this process alone.
fn cache(url: Option<String>) -> Cache {
    const SECRET: &str = "pinguard.cache";
    match url {
        Some(url) => Cache::valkey(Arc::new(SecretStore::given(SECRET, &url)), SECRET.to_owned()),
        None => Cache::memory(),
    }
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
        pins: plan.pins(),
        example,
    })
}
