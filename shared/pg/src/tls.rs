//! TLS to the server: one configuration per way of verifying, and the causes of a failed handshake.

mod binding;
mod roots;
mod verify;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::target::Host;

pub(crate) use binding::server_end_point;
pub(crate) use roots::{Roots, RootsError};

/// How a connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TlsMode {
    /// No TLS.
    Plain,
    /// TLS without verifying where the server offers it.
    // INVARIANT: on loopback only.
    PlainIfNotOffered,
    /// TLS always, without verifying.
    Encrypt,
    /// TLS always; the certificate comes from a known CA.
    VerifyCa,
    /// TLS always; the certificate comes from a known CA and is this host's.
    VerifyFull,
}

/// Why there is no TLS connection.
#[derive(Debug)]
pub(crate) enum TlsCause {
    UnknownCa,
    WrongHost,
    Expired,
    /// The connection broke, before or while TLS was set up.
    Lost,
    Other,
}

/// Configurations kept; more kinds of given roots than this are not seen in one process.
const KEPT: usize = 32;

type Configs = HashMap<(TlsMode, Roots), Arc<ClientConfig>>;

/// The configuration for a mode and roots. Reading a bundle takes milliseconds, so it is done once in a process.
pub(crate) fn config(mode: TlsMode, roots: &Roots) -> Result<Arc<ClientConfig>, RootsError> {
    static KEPT_CONFIGS: Mutex<Option<Configs>> = Mutex::new(None);

    let roots = match mode {
        TlsMode::VerifyCa | TlsMode::VerifyFull => roots.read()?,
        TlsMode::Plain | TlsMode::PlainIfNotOffered | TlsMode::Encrypt => Roots::Public,
    };
    let key = (mode, roots);
    let mut kept = KEPT_CONFIGS.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(config) = kept.get(&key) {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(build(mode, &key.1)?);
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(key, Arc::clone(&config));
    Ok(config)
}

fn build(mode: TlsMode, roots: &Roots) -> Result<ClientConfig, RootsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let check = match mode {
        TlsMode::Plain | TlsMode::PlainIfNotOffered | TlsMode::Encrypt => verify::Check::Nothing,
        TlsMode::VerifyCa => verify::Check::Chain(roots.load()?),
        TlsMode::VerifyFull => verify::Check::ChainAndName(roots.load()?),
    };
    let verifier = verify::Verifier::new(check, provider.signature_verification_algorithms);
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(RootsError::Versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}

/// Shakes hands on a connection whose server has agreed to TLS.
pub(crate) async fn handshake(
    stream: TcpStream,
    host: &Host,
    config: Arc<ClientConfig>,
) -> io::Result<TlsStream<TcpStream>> {
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
        Host::Ip(address) => ServerName::IpAddress(IpAddr::into(*address)),
    };
    TlsConnector::from(config).connect(name, stream).await
}

/// Which of the causes an operator can act on stands behind a failed handshake.
pub(crate) fn cause(error: &io::Error) -> TlsCause {
    let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return TlsCause::Lost;
    };
    let rustls::Error::InvalidCertificate(certificate) = tls else { return TlsCause::Other };
    match certificate {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsCause::UnknownCa,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsCause::WrongHost
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsCause::Expired,
        // A server that shows a CA's certificate as its own; the verifier's error has no variant for it.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            TlsCause::UnknownCa
        }
        _ => TlsCause::Other,
    }
}
