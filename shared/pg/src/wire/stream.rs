//! The socket, with or without TLS.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::tls::server_end_point;

/// A connected socket.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => tls.get_ref().0,
        }
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// The data that a login is bound to; none without TLS, or where the certificate gives none.
    pub(crate) fn channel_binding(&self) -> Option<Vec<u8>> {
        let Self::Tls(tls) = self else { return None };
        server_end_point(tls.get_ref().1.peer_certificates()?.first()?)
    }

    /// Whether the peer has neither gone nor said anything unasked: a server speaks up between two statements only to
    /// take its leave. The system is asked, since the runtime may not have heard of it yet.
    pub(crate) fn is_quiet(&self) -> bool {
        if let Self::Tls(tls) = self
            && !tls.get_ref().1.wants_read()
        {
            return false;
        }
        let socket = self.tcp().as_fd().try_clone_to_owned().map(std::net::TcpStream::from);
        let peeked = socket.and_then(|socket| socket.peek(&mut [0]));
        matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(context),
        }
    }
}
