//! Messages over a socket: what is queued leaves in one flight, what arrives is taken apart as it comes.

mod frame;
mod stream;

use std::io;

use bytes::BytesMut;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use frame::Decoder;
pub(crate) use frame::{Event, FrameError, Rows};
pub(crate) use stream::Stream;

/// Room for one read.
const CHUNK: usize = 64 << 10;

/// Why no more messages can be had.
#[derive(Debug, Error)]
pub(crate) enum WireError {
    #[error("the connection was lost")]
    Lost(#[source] io::Error),
    #[error("the server does not speak PostgreSQL's protocol")]
    Protocol(#[from] FrameError),
}

/// A socket with its two buffers.
pub(crate) struct Wire {
    stream: Stream,
    inbox: BytesMut,
    outbox: BytesMut,
    decoder: Decoder,
    flights: u64,
}

impl Wire {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, inbox: BytesMut::new(), outbox: BytesMut::new(), decoder: Decoder::new(), flights: 0 }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// What is written here leaves with the next flight.
    pub(crate) fn outbox(&mut self) -> &mut BytesMut {
        &mut self.outbox
    }

    /// Flights so far, those of the login included.
    pub(crate) fn flights(&self) -> u64 {
        self.flights
    }

    pub(crate) fn set_rows(&mut self, rows: Rows) {
        self.decoder.set_rows(rows);
    }

    /// Sends what is queued. Dropped halfway, it goes on where it was when called again.
    pub(crate) async fn send(&mut self) -> Result<(), WireError> {
        self.flights += 1;
        while !self.outbox.is_empty() {
            self.stream.write_buf(&mut self.outbox).await.map_err(WireError::Lost)?;
        }
        self.stream.flush().await.map_err(WireError::Lost)
    }

    /// The next event. Dropped halfway, it loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Event, WireError> {
        loop {
            if let Some(event) = self.decoder.next(&mut self.inbox)? {
                return Ok(event);
            }
            self.inbox.reserve(CHUNK);
            let read = self.stream.read_buf(&mut self.inbox).await.map_err(WireError::Lost)?;
            if read == 0 {
                return Err(WireError::Lost(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// Whether nothing is on its way in either direction.
    pub(crate) fn is_quiet(&self) -> bool {
        self.inbox.is_empty() && self.outbox.is_empty() && self.stream.is_quiet()
    }

    /// Gives back the room that large messages took.
    pub(crate) fn shrink(&mut self) {
        (self.inbox, self.outbox) = (BytesMut::new(), BytesMut::new());
    }

    /// Takes leave of the server, as far as it listens.
    pub(crate) async fn shutdown(&mut self) {
        if self.send().await.is_ok() {
            // The peer may have gone first, which is as good.
            let _ = self.stream.shutdown().await;
        }
    }
}
