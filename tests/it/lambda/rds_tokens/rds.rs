//! Amazon RDS as a login by token sees it: TLS, a password asked for in clear, and a server behind it.

use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::Duration,
};

use local::embedded::Binaries;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

use crate::support::{
    TestServer,
    tls::{Certificate, authority, issue},
};

/// The login, which has no password.
pub(super) const USER: &str = "reader";

/// What becomes of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Admit,
    Refuse,
}

/// A front on `localhost`, which ends with its value.
pub(super) struct Rds {
    pub(super) port: u16,
    pub(super) ca: String,
    /// Another CA, which signed nothing here.
    pub(super) foreign_ca: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    _server: TestServer,
}

struct Shared {
    tokens: Mutex<Vec<String>>,
    answer: Mutex<Answer>,
    upstream: u16,
    tls: TlsAcceptor,
}

impl Rds {
    /// Starts it over a database with one table.
    pub(super) async fn start() -> Self {
        let server = TestServer::start(Binaries::unpacked(16).unwrap(), &[]);
        let sql = format!(
            "CREATE ROLE {USER} LOGIN; CREATE TABLE fruit AS SELECT 'quince' AS name; GRANT SELECT ON fruit TO {USER}"
        );
        server.admin().await.batch_execute(&sql).await.unwrap();
        server.set_hba(&["host all all 127.0.0.1/32 trust", "local all all trust"]).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (ca, issuer) = authority("Amazon RDS of a test");
        let (foreign_ca, _) = authority("another CA");
        let (chain, key) = issue(Certificate::Good, &issuer);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
            )
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            tokens: Mutex::default(),
            answer: Mutex::new(Answer::Admit),
            upstream: server.port(),
            tls: TlsAcceptor::from(Arc::new(config)),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { port, ca, foreign_ca, shared, accepting, _server: server }
    }

    /// The tokens of all logins so far.
    pub(super) fn tokens(&self) -> Vec<String> {
        self.shared.tokens.lock().unwrap().clone()
    }

    pub(super) fn set(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }
}

impl Drop for Rds {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let shared = Arc::clone(&shared);
        // A client that goes away in the middle is none of the front's matters.
        tokio::spawn(async move { serve(client, &shared).await.ok() });
    }
}

async fn serve(mut client: TcpStream, shared: &Shared) -> std::io::Result<()> {
    // The wish for TLS: eight bytes, answered by one.
    let mut wish = [0; 8];
    client.read_exact(&mut wish).await?;
    client.write_all(b"S").await?;
    let mut client = shared.tls.accept(client).await?;
    let startup = message(&mut client).await?;
    client.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]).await?;
    assert_eq!(client.read_u8().await?, b'p', "a password was asked for");
    let password = message(&mut client).await?;
    let token = String::from_utf8(password[4..password.len() - 1].to_vec()).unwrap();
    shared.tokens.lock().unwrap().push(token);
    let answer = *shared.answer.lock().unwrap();
    if answer == Answer::Refuse {
        let fields = format!("SFATAL\0VFATAL\0C28000\0MPAM authentication failed for user \"{USER}\"\0\0");
        let length = u32::try_from(fields.len() + 4).unwrap();
        client.write_all(&[b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat()).await?;
        return client.shutdown().await;
    }
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.upstream)).await?;
    server.write_all(&startup).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// A message from its length on.
async fn message(client: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    let length = client.read_u32().await?;
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.resize(length as usize, 0);
    client.read_exact(&mut bytes[4..]).await?;
    Ok(bytes)
}
