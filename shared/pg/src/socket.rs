//! The way in for a client other than ours: a connected socket with TLS as the target asks, on which nothing of
//! PostgreSQL's protocol has been said yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::connect_error::ConnectError;
use crate::dial::dial;
use crate::target::Target;
use crate::wire::Stream;

/// A connected socket.
pub struct Socket(Stream);

impl Socket {
    /// Connects and sets up TLS as the target asks. What follows, from the startup message on, is the caller's.
    pub async fn open(target: &Target, deadline: Instant) -> Result<Self, ConnectError> {
        Ok(Self(dial(target, deadline).await?.0))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
