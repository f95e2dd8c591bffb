//! The connection to a Valkey or Redis, one node or a cluster: opened at the first use, kept, replaced when lost.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo as _,
    RedisConnectionInfo, RedisError, ServerErrorKind, TlsCertificates, Value,
};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::super::error::{CacheError, Unavailable};
use super::super::target::{CacheTarget, Security};
use crate::secrets::{Secret, SecretError, SecretStage, SecretStore};

/// How long a kept connection may be silent before it counts as dead, if half of the call's time is not less: an
/// instance that was frozen finds its connection forgotten by the network, without a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// The way to the cache.
pub(super) struct Links {
    store: Arc<SecretStore>,
    secret_id: String,
    warm: Mutex<Option<Arc<Link>>>,
}

/// A connection; clones of it share one socket, or one a node.
enum Link {
    Node(MultiplexedConnection),
    Cluster(ClusterConnection),
}

enum Origin {
    Kept,
    New,
}

impl Links {
    pub(super) fn new(store: Arc<SecretStore>, secret_id: String) -> Self {
        Self { store, secret_id, warm: Mutex::new(None) }
    }

    /// Sends a command on the kept connection. Where that turns out dead, once more on a new one; so the command must
    /// be one that does no harm when it runs twice.
    pub(super) async fn ask(&self, command: &Cmd, deadline: Instant) -> Result<Value, CacheError> {
        let (link, origin) = self.warm(deadline).await?;
        let share = deadline.saturating_duration_since(Instant::now()) / 2;
        let until = match origin {
            Origin::New => deadline,
            Origin::Kept => Instant::now() + share.min(PATIENCE),
        };
        let answer = self.try_on(&link, command, until).await;
        match (&answer, origin) {
            (Err(error), Origin::Kept) if error.is_lost() && Instant::now() < deadline => {
                let (link, _) = self.warm(deadline).await?;
                self.try_on(&link, command, deadline).await
            }
            _ => answer,
        }
    }

    /// A connection that gives no answer is done with.
    async fn try_on(&self, link: &Arc<Link>, command: &Cmd, until: Instant) -> Result<Value, CacheError> {
        let answer = match timeout_at(until, link.send(command)).await {
            Ok(answer) => answer.map_err(answered),
            Err(_) => Err(CacheError::Deadline),
        };
        if answer.as_ref().is_err_and(CacheError::is_lost) {
            let mut warm = self.warm.lock().await;
            warm.take_if(|kept| Arc::ptr_eq(kept, link));
        }
        answer
    }

    async fn warm(&self, deadline: Instant) -> Result<(Arc<Link>, Origin), CacheError> {
        // Held while connecting, so that calls that come at one time share one connection.
        let mut warm = timeout_at(deadline, self.warm.lock()).await.map_err(|_| CacheError::Deadline)?;
        if let Some(link) = warm.as_ref() {
            return Ok((Arc::clone(link), Origin::Kept));
        }
        let connecting = timeout_at(deadline, self.connect());
        let link = Arc::new(connecting.await.map_err(|_| CacheError::Deadline)??);
        *warm = Some(Arc::clone(&link));
        Ok((link, Origin::New))
    }

    /// Connects by the secret as it reads now. Where the server refuses the login, the secret may have been rotated a
    /// moment ago: it is read again, then its pending value, and one of them is tried.
    async fn connect(&self) -> Result<Link, CacheError> {
        let secret = self.secret(SecretStage::Current).await.map_err(CacheError::Secret)?;
        let refused = match open(&secret).await {
            Err(error) if error.is_wrong_password() => error,
            other => return other,
        };
        for stage in [SecretStage::Current, SecretStage::Pending] {
            match self.secret(stage).await {
                Ok(other) if other.version != secret.version => return open(&other).await,
                Ok(_) | Err(_) => {}
            }
        }
        Err(refused)
    }

    async fn secret(&self, stage: SecretStage) -> Result<Secret, SecretError> {
        self.store.read(&self.secret_id, stage).await
    }
}

impl Link {
    async fn send(&self, command: &Cmd) -> Result<Value, RedisError> {
        match self {
            Self::Node(connection) => command.query_async(&mut connection.clone()).await,
            Self::Cluster(connection) => command.query_async(&mut connection.clone()).await,
        }
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("secret_id", &self.secret_id).finish_non_exhaustive()
    }
}

/// Connects, and asks the server whether it is one node or a part of a cluster. The caller bounds the time.
async fn open(secret: &Secret) -> Result<Link, CacheError> {
    let target = CacheTarget::parse(&secret.text).map_err(CacheError::Target)?;
    let certificates = certificates(&target).await?;
    let info = info(&target).map_err(refused)?;
    let client = match &certificates {
        Some(certificates) => Client::build_with_tls(info.clone(), certificates.clone()),
        None => Client::open(info.clone()),
    };
    // Time is the caller's affair.
    let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    let client = client.map_err(refused)?;
    let mut node = client.get_multiplexed_async_connection_with_config(&config).await.map_err(refused)?;
    let hello: Vec<Value> = redis::cmd("HELLO").query_async(&mut node).await.map_err(answered)?;
    if !is_cluster(&hello) {
        return Ok(Link::Node(node));
    }
    let mut cluster = ClusterClientBuilder::new([info]).retries(3).overall_response_timeout(None);
    if let Some(certificates) = certificates {
        cluster = cluster.certs(certificates);
    }
    let client = cluster.build().map_err(refused)?;
    client.get_async_connection().await.map(Link::Cluster).map_err(refused)
}

fn info(target: &CacheTarget) -> Result<ConnectionInfo, RedisError> {
    let (host, port) = (target.host.clone(), target.port);
    let addr = match target.security {
        Security::Plain => ConnectionAddr::Tcp(host, port),
        Security::Public | Security::Pem(_) | Security::File(_) => {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        }
    };
    let mut login = RedisConnectionInfo::default().set_db(target.database.into()).set_skip_set_lib_name();
    if let Some(user) = &target.user {
        login = login.set_username(user);
    }
    if let Some(password) = &target.password {
        login = login.set_password(&**password);
    }
    Ok(addr.into_connection_info()?.set_redis_settings(login))
}

/// The CAs to trust instead of Mozilla's.
async fn certificates(target: &CacheTarget) -> Result<Option<TlsCertificates>, CacheError> {
    let pem = match &target.security {
        Security::Plain | Security::Public => return Ok(None),
        Security::Pem(text) => text.clone().into_bytes(),
        Security::File(path) => tokio::fs::read(path)
            .await
            .map_err(|error| CacheError::unavailable(Unavailable::RootFile, error.into()))?,
    };
    Ok(Some(TlsCertificates { client_tls: None, root_cert: Some(pem) }))
}

/// The answer to HELLO is a list of names and values.
fn is_cluster(hello: &[Value]) -> bool {
    let text = |value: &Value, wanted: &[u8]| matches!(value, Value::BulkString(text) if text == wanted);
    hello.windows(2).any(|pair| match pair {
        [name, value] => text(name, b"mode") && text(value, b"cluster"),
        _ => false,
    })
}

/// An error of connecting and logging in.
fn refused(error: RedisError) -> CacheError {
    let reason = match error.kind() {
        ErrorKind::AuthenticationFailed => Unavailable::Login,
        ErrorKind::Io if is_tls(&error) => Unavailable::Tls,
        ErrorKind::InvalidClientConfig => Unavailable::Tls,
        ErrorKind::Io => Unavailable::Unreachable,
        _ => return answered(error),
    };
    CacheError::unavailable(reason, error)
}

/// An error of a command.
fn answered(error: RedisError) -> CacheError {
    let reason = match error.kind() {
        ErrorKind::Io | ErrorKind::ClusterConnectionNotFound => Unavailable::Lost,
        ErrorKind::AuthenticationFailed => Unavailable::Login,
        ErrorKind::Server(ServerErrorKind::NoPerm) => Unavailable::Rights,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::TryAgain,
        ) => Unavailable::NotReady,
        _ => match error.code() {
            Some("OOM") => return CacheError::Full,
            Some("WRONGPASS" | "NOAUTH") => Unavailable::Login,
            _ => Unavailable::Other,
        },
    };
    CacheError::unavailable(reason, error)
}

/// rustls reports through an error of the stream; a server that speaks no TLS looks like one that speaks it badly.
fn is_tls(error: &RedisError) -> bool {
    // The source is a shared pointer to the error.
    let shared = error.source().and_then(|source| source.downcast_ref::<Arc<dyn Error + Send + Sync>>());
    let io = shared.and_then(|shared| shared.downcast_ref::<io::Error>());
    io.is_some_and(|error| matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput))
}
