//! A TCP proxy in front of a server that can be slow, silent, or cut the line at a chosen place.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
};

/// What the proxy does with the bytes from the server to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Each piece waits this long, in both directions.
    Delay(Duration),
    /// Nothing is forwarded any more, in either direction, and nobody is told.
    Silence,
    /// Every line that is open is cut.
    Cut,
    /// The line is cut after this many bytes of the server, counted on each connection.
    CutAfterBytes(usize),
    /// The line on which the server speaks next is cut ahead of that, and no other.
    CutOnce,
    /// The line is cut ahead of the first message of this type, such as `b'D'` for a row.
    CutAtMessage(u8),
}

/// A running proxy; it ends with its value.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    fault: Arc<Mutex<Fault>>,
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Forwards a free port to `upstream` on 127.0.0.1.
    pub(crate) async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault = Arc::new(Mutex::new(Fault::None));
        let connections = Arc::new(AtomicUsize::new(0));
        let open = Arc::new(AtomicUsize::new(0));
        let counts = [&connections, &open].map(Arc::clone);
        let accepting = tokio::spawn(accept(listener, upstream, Arc::clone(&fault), counts));
        Self { port, fault, connections, open, accepting }
    }

    /// From now on, on open connections too.
    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// How many connections came in so far, cancel requests among them.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until every line has ended.
    pub(crate) async fn all_ended(&self) {
        while self.open.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The URL of a server, through this proxy.
    pub(crate) fn through(&self, url: &str, server_port: u16) -> String {
        url.replacen(&format!(":{server_port}/"), &format!(":{}/", self.port), 1)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    upstream: u16,
    fault: Arc<Mutex<Fault>>,
    [connections, open]: [Arc<AtomicUsize>; 2],
) {
    loop {
        let (client, _) = listener.accept().await.unwrap();
        connections.fetch_add(1, Ordering::SeqCst);
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream)).await else { continue };
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        open.fetch_add(1, Ordering::SeqCst);
        let open = Arc::clone(&open);
        let (forth, back, both) = (Arc::clone(&fault), Arc::clone(&fault), Arc::clone(&fault));
        tokio::spawn(async move {
            // Either direction's end is the end of the connection.
            tokio::select! {
                () = forward(from_client, to_server, forth) => {}
                () = answer(from_server, to_client, back) => {}
                () = cut(both) => {}
            }
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Delays, or for silence waits until there is something else to do.
async fn pause(fault: &Mutex<Fault>) -> Fault {
    loop {
        let now = *fault.lock().unwrap();
        match now {
            Fault::Silence => tokio::time::sleep(Duration::from_millis(10)).await,
            Fault::Delay(time) => {
                tokio::time::sleep(time).await;
                return now;
            }
            _ => return now,
        }
    }
}

/// Ends when the line is to be cut.
async fn cut(fault: Arc<Mutex<Fault>>) {
    while *fault.lock().unwrap() != Fault::Cut {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, fault: Arc<Mutex<Fault>>) {
    let mut piece = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        pause(&fault).await;
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}

async fn answer(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, fault: Arc<Mutex<Fault>>) {
    let mut piece = vec![0; 65_536];
    let (mut sent, mut messages) = (0, Messages::default());
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let piece = &piece[..length];
        let now = pause(&fault).await;
        let starts = messages.starts(piece);
        let end = match now {
            Fault::CutOnce => {
                *fault.lock().unwrap() = Fault::None;
                0
            }
            Fault::CutAfterBytes(limit) => length.min(limit.saturating_sub(sent)),
            Fault::CutAtMessage(kind) => {
                starts.iter().find(|&&(_, found)| found == kind).map_or(length, |&(at, _)| at)
            }
            Fault::None | Fault::Delay(_) | Fault::Silence | Fault::Cut => length,
        };
        if to.write_all(&piece[..end]).await.is_err() || end < length {
            return;
        }
        sent += length;
    }
}

/// Finds where messages begin in a stream of the unencrypted protocol: a type byte, then a length that counts itself.
#[derive(Debug, Default)]
struct Messages {
    /// The message that is being read: its type and the length bytes seen so far.
    header: Vec<u8>,
    /// How much of its body is to come.
    body: usize,
}

impl Messages {
    /// Position and type of each message that begins in this piece.
    fn starts(&mut self, piece: &[u8]) -> Vec<(usize, u8)> {
        let mut starts = Vec::new();
        let mut at = 0;
        while at < piece.len() {
            if self.body > 0 {
                let step = self.body.min(piece.len() - at);
                self.body -= step;
                at += step;
                continue;
            }
            if self.header.is_empty() {
                starts.push((at, piece[at]));
            }
            self.header.push(piece[at]);
            at += 1;
            if let [_, a, b, c, d] = self.header[..] {
                self.body = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap().saturating_sub(4);
                self.header.clear();
            }
        }
        starts
    }
}
