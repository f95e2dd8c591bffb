//! Stopping a statement from outside its connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::dial::dial_again;
use crate::target::Target;

/// How long a cancel request may take; past it the server's own timeouts do the work.
const PATIENCE: Duration = Duration::from_secs(1);

/// The right to cancel what one backend is doing.
#[derive(Clone)]
pub(crate) struct Canceller(Arc<Backend>);

struct Backend {
    target: Target,
    address: SocketAddr,
    process_id: i32,
    secret_key: i32,
}

impl Canceller {
    pub(crate) fn new(target: Target, address: SocketAddr, process_id: i32, secret_key: i32) -> Self {
        Self(Arc::new(Backend { target, address, process_id, secret_key }))
    }

    /// Sends the request on a connection of its own, protected as the first one, and waits until the server
    /// has taken it. The server never says whether it did anything, so neither does this.
    pub(crate) async fn cancel(&self) {
        // A cancel that fails leaves the statement to `statement_timeout`; there is nothing else to do about it.
        let _ = timeout(PATIENCE, self.send()).await;
    }

    async fn send(&self) -> Option<()> {
        let Backend { target, address, process_id, secret_key } = self.0.as_ref();
        let mut stream = dial_again(target, *address).await.ok()?;
        let mut request = BytesMut::new();
        frontend::cancel_request(*process_id, *secret_key, &mut request);
        stream.write_all(&request).await.ok()?;
        stream.flush().await.ok()?;
        // The server closes once the signal is sent.
        stream.read(&mut [0]).await.ok().map(|_| ())
    }
}

/// Cancels when dropped, unless it is disarmed: so that a caller who hangs up takes the statement along.
pub(crate) struct CancelOnDrop(Option<Canceller>);

impl CancelOnDrop {
    pub(crate) fn armed(canceller: Canceller) -> Self {
        Self(Some(canceller))
    }

    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some(canceller), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(async move { canceller.cancel().await });
        }
    }
}
