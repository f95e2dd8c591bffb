//! From a target to a socket: looking the host up, reaching it, agreeing on TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};

use crate::connect_error::{ConnectError, Stage};
use crate::target::{Host, Target};
use crate::tls::{self, TlsCause, TlsMode};
use crate::wire::Stream;

/// Connects and sets up TLS as the target asks. Gives the address that answered, too.
pub(crate) async fn dial(target: &Target, until: Instant) -> Result<(Stream, SocketAddr), ConnectError> {
    let addresses = within(until, target, Stage::Lookup, look_up(target)).await??;
    let (tcp, address) = reach(target, &addresses, until).await?;
    let stream = within(until, target, Stage::Tls, protect(tcp, target)).await??;
    Ok((stream, address))
}

/// Connects to an address that has answered before.
pub(crate) async fn dial_again(target: &Target, address: SocketAddr) -> Result<Stream, ConnectError> {
    let unreachable = |source| ConnectError::Unreachable { address: shown(target), source };
    let tcp = TcpStream::connect(address).await.map_err(unreachable)?;
    protect(tcp, target).await
}

/// Host and port, for messages.
pub(crate) fn shown(target: &Target) -> String {
    format!("{}:{}", target.host(), target.port())
}

/// Bounds a step of connecting.
pub(crate) async fn within<T>(
    until: Instant,
    target: &Target,
    stage: Stage,
    step: impl Future<Output = T>,
) -> Result<T, ConnectError> {
    timeout_at(until, step).await.map_err(|_| ConnectError::Timeout { address: shown(target), stage })
}

async fn look_up(target: &Target) -> Result<Vec<SocketAddr>, ConnectError> {
    let name = match target.host() {
        Host::Ip(address) => return Ok(vec![SocketAddr::new(*address, target.port())]),
        Host::Name(name) => name,
    };
    let unknown = |source| ConnectError::UnknownHost { host: name.clone(), source };
    let found = lookup_host((name.as_str(), target.port())).await.map_err(unknown)?;
    // Plaintext may go to `localhost`, so that name must not lead elsewhere.
    let here = target.host().is_loopback();
    let addresses: Vec<_> =
        found.filter(|address| !here || address.ip().to_canonical().is_loopback()).collect();
    if addresses.is_empty() { Err(unknown(io::ErrorKind::NotFound.into())) } else { Ok(addresses) }
}

/// Tries the addresses in turn, each with its share of the time.
async fn reach(
    target: &Target,
    addresses: &[SocketAddr],
    until: Instant,
) -> Result<(TcpStream, SocketAddr), ConnectError> {
    let timed_out = || ConnectError::Timeout { address: shown(target), stage: Stage::Tcp };
    let mut failure = None;
    for (tried, &address) in addresses.iter().enumerate() {
        let waiting = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = until.saturating_duration_since(Instant::now()) / waiting;
        match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => {
                // Messages are flushed as whole flights: waiting for more to send would only delay them.
                tcp.set_nodelay(true)
                    .map_err(|source| ConnectError::Unreachable { address: shown(target), source })?;
                return Ok((tcp, address));
            }
            // A refusal says more than a silence, whichever came first.
            Ok(Err(error)) => failure = Some(error),
            Err(_) => {}
        }
    }
    let Some(source) = failure else { return Err(timed_out()) };
    let only_ipv6 = addresses.iter().all(|address| matches!(address.ip(), IpAddr::V6(_)));
    Err(if only_ipv6 && has_no_route(&source) {
        ConnectError::Ipv6Only { host: target.host().to_string(), source }
    } else {
        ConnectError::Unreachable { address: shown(target), source }
    })
}

fn has_no_route(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::Unsupported
    ) || error.raw_os_error() == Some(AFNOSUPPORT)
}

/// "Address family not supported by protocol" on Linux; the standard library has no kind for it.
const AFNOSUPPORT: i32 = 97;

async fn protect(mut tcp: TcpStream, target: &Target) -> Result<Stream, ConnectError> {
    let mode = target.tls_mode();
    if mode == TlsMode::Plain {
        return Ok(Stream::Plain(tcp));
    }
    let address = shown(target);
    let config = tls::config(mode, target.roots()).map_err(|error| ConnectError::of_roots(&error))?;
    match ask_for_tls(&mut tcp).await {
        Ok(b'S') => {}
        Ok(b'N') if mode == TlsMode::PlainIfNotOffered => return Ok(Stream::Plain(tcp)),
        Ok(b'N') => return Err(ConnectError::TlsNotOffered { address }),
        Ok(other) => {
            let reason = format!("it answered the wish for TLS with byte {other}");
            return Err(ConnectError::Protocol { address, reason });
        }
        Err(source) => return Err(ConnectError::Lost { address, stage: Stage::Tls, source }),
    }
    match tls::handshake(tcp, target.host(), config).await {
        Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
        Err(source) => Err(match tls::cause(&source) {
            TlsCause::UnknownCa => ConnectError::TlsUnknownCa { address, source },
            TlsCause::WrongHost => ConnectError::TlsWrongHost { address, source },
            TlsCause::Expired => ConnectError::TlsExpired { address, source },
            TlsCause::Lost => ConnectError::Lost { address, stage: Stage::Tls, source },
            TlsCause::Other => ConnectError::TlsFailed { address, source },
        }),
    }
}

/// Exactly one byte is read: whatever an attacker put behind it goes into the handshake and breaks it.
async fn ask_for_tls(tcp: &mut TcpStream) -> io::Result<u8> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    tcp.write_all(&request).await?;
    tcp.read_u8().await
}
