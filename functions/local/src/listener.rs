//! HTTP/1.1 on a listener of this machine.

use std::{convert::Infallible, error::Error as StdError, pin::pin, time::Duration};

use http::{Request, Response};
use http_body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// How long answers that are under way may still take at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// After a failed accept, as when there are no file handles left.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until `end`, then lets the answers under way finish. A request whose connection the client closes is
/// dropped with all that its handler was doing.
pub(crate) async fn serve<H, F, B>(listener: TcpListener, handler: H, end: impl Future<Output = ()>)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut end = pin!(end);
    let (ending, ended) = watch::channel(());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, handler.clone(), ended.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    drop(ending);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST_ANSWERS, all).await.is_err() {
        tracing::warn!("answers that took too long at the end were cut off");
    }
}

async fn connection<H, F, B>(stream: TcpStream, handler: H, mut ended: watch::Receiver<()>)
where
    H: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answer = handler(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut builder = http1::Builder::new();
    let mut connection =
        pin!(builder.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = &mut connection => served,
        // The sender is dropped at the end; it never sends.
        _ = ended.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection broke");
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, sync::Arc, time::Duration};

    use bytes::Bytes;
    use http::Response;
    use http_body_util::Full;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::oneshot,
    };

    use super::serve;

    const ASK: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";

    /// A server whose every answer takes `time`; its handlers hold the returned value.
    async fn slow(time: Duration) -> (u16, Arc<()>, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let held = Arc::new(());
        let (end, ended) = oneshot::channel();
        let holding = Arc::clone(&held);
        let handler = move |_| {
            let holding = Arc::clone(&holding);
            async move {
                tokio::time::sleep(time).await;
                drop(holding);
                Response::new(Full::new(Bytes::from_static(b"done")))
            }
        };
        let server = tokio::spawn(serve(listener, handler, async {
            let _ = ended.await;
        }));
        (port, held, end, server)
    }

    async fn until(condition: impl Fn() -> bool) -> bool {
        for _ in 0..200 {
            if condition() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    #[tokio::test]
    async fn a_dropped_connection_drops_its_handler() {
        let (port, held, _end, _server) = slow(Duration::from_hours(1)).await;
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        client.write_all(ASK).await.unwrap();
        // Held here, by the handler, by the connection's copy of it, and by the running call.
        assert!(until(|| Arc::strong_count(&held) == 4).await, "{}", Arc::strong_count(&held));
        drop(client);
        assert!(until(|| Arc::strong_count(&held) == 2).await, "{}", Arc::strong_count(&held));
    }

    #[tokio::test]
    async fn an_answer_under_way_is_finished_at_the_end() {
        let (port, _held, end, server) = slow(Duration::from_millis(200)).await;
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        client.write_all(ASK).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        end.send(()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("done"), "{answer}");
        server.await.unwrap();
    }

    #[tokio::test]
    async fn an_idle_connection_does_not_hold_up_the_end() {
        let (port, _held, end, server) = slow(Duration::ZERO).await;
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        client.write_all(ASK).await.unwrap();
        let mut answer = [0; 15];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
        end.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(1), server).await.unwrap().unwrap();
    }
}
