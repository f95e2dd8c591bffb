//! Fetching a small JSON document from the issuer: one request on a connection of its own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::handshake;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use crate::url::{KeysUrl, Transport};

/// The time of a whole fetch.
const TIME: Duration = Duration::from_secs(3);

/// The longest document that is read; sets of keys have some thousand bytes.
const MOST_BYTES: usize = 512 * 1024;

/// Why nothing was fetched.
#[derive(Debug, Error)]
pub(crate) enum FetchError {
    #[error("no answer in time")]
    Time,
    #[error("cannot connect")]
    Connect(#[source] io::Error),
    #[error("cannot set TLS up")]
    Tls(#[source] rustls::Error),
    #[error("the host's name cannot stand in a certificate")]
    Name(#[source] rustls::pki_types::InvalidDnsNameError),
    #[error("the request cannot be made")]
    Request(#[source] http::Error),
    #[error("the exchange broke")]
    Http(#[source] hyper::Error),
    #[error("it answered with {0}")]
    Status(StatusCode),
    #[error("the answer broke, or is longer than {MOST_BYTES} bytes")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Fetches a document; redirects are not followed.
pub(crate) async fn fetch(url: &KeysUrl, deadline: Instant) -> Result<Bytes, FetchError> {
    let limit = deadline.min(Instant::now() + TIME);
    timeout_at(limit, exchange(url, public_cas)).await.unwrap_or(Err(FetchError::Time))
}

async fn exchange(url: &KeysUrl, cas: impl FnOnce() -> RootCertStore) -> Result<Bytes, FetchError> {
    let stream = TcpStream::connect((url.host.as_str(), url.port)).await.map_err(FetchError::Connect)?;
    match url.transport {
        Transport::Clear => request(url, TokioIo::new(stream)).await,
        Transport::Tls => {
            let name = ServerName::try_from(url.host.clone()).map_err(FetchError::Name)?;
            let connector = TlsConnector::from(Arc::new(trusting(cas()).map_err(FetchError::Tls)?));
            let stream = connector.connect(name, stream).await.map_err(FetchError::Connect)?;
            request(url, TokioIo::new(stream)).await
        }
    }
}

fn public_cas() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn trusting(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

async fn request<IO>(url: &KeysUrl, io: IO) -> Result<Bytes, FetchError>
where
    IO: Read + Write + Send + Unpin + 'static,
{
    let (mut sender, connection) = handshake(io).await.map_err(FetchError::Http)?;
    // The connection ends with this value.
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let request = Request::get(&url.path)
        .header(HOST, &url.authority)
        .header(ACCEPT, "application/jwk-set+json, application/json")
        .header(USER_AGENT, concat!("pinguard/", env!("CARGO_PKG_VERSION")))
        .body(Empty::<Bytes>::new())
        .map_err(FetchError::Request)?;
    let answer = sender.send_request(request).await.map_err(FetchError::Http)?;
    if answer.status() != StatusCode::OK {
        return Err(FetchError::Status(answer.status()));
    }
    let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await.map_err(FetchError::Body)?;
    Ok(body.to_bytes())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rustls::ServerConfig;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// A server whose certificate is for a host, signed by itself; gives its URL and the certificate.
    async fn server(host: &str) -> (KeysUrl, RootCertStore) {
        let made = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let key = made.signing_key.serialize_der().try_into().unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("https://localhost:{}/jwks", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await else { return };
            let mut request = [0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            assert!(request[..length].starts_with(b"GET /jwks HTTP/1.1\r\n"));
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        });
        (KeysUrl::parse(&url).unwrap(), roots)
    }

    #[tokio::test]
    async fn a_server_whose_certificate_is_vouched_for_is_asked() {
        let (url, roots) = server("localhost").await;
        assert_eq!(exchange(&url, || roots).await.unwrap(), "{}");
    }

    #[tokio::test]
    async fn others_are_not() {
        let (unknown, _) = server("localhost").await;
        assert!(matches!(exchange(&unknown, public_cas).await, Err(FetchError::Connect(_))));
        let (other, roots) = server("other.test").await;
        assert!(matches!(exchange(&other, || roots).await, Err(FetchError::Connect(_))));
    }
}
