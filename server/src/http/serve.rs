//! Connections: accepted up to a bound, with bounded heads, and ended in good order.

use super::entrance::Entrance;
use super::tls::Tls;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;

/// The largest head of a request. It may have 100 headers, as of Tomcat: hyper's default, which is the fastest.
const MOST_HEAD: usize = 16 * 1024;
/// How long a connection may take for a head, and may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a client may take nothing of an answer. A connection takes its next request once the last answer was taken, so
/// it holds one.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// After an accept that failed, such as for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` says so, and then until all requests have ended, or the stop's time is over.
pub(crate) async fn serve(
    entrance: Arc<Entrance>,
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(entrance.connections));
    while !*stop.borrow() {
        let accepted = tokio::select! {
            accepted = accept(&listener, &room) => accepted,
            _ = stop.changed() => continue,
        };
        let Some((stream, address, place)) = accepted else { continue };
        let client = entrance.rate_limits.as_ref().map(|limits| limits.connected(address.ip()));
        let (service, watcher, tls, stop) =
            (entrance.clone().service(client), graceful.watcher(), tls.clone(), stop.clone());
        tokio::spawn(async move {
            let ended = match tls {
                None => connection(stream, service, watcher).await.map_err(|error| error.to_string()),
                // In a place of its own, so that connections without it are smaller.
                Some(tls) => Box::pin(encrypted(&tls, stream, service, watcher, stop)).await,
            };
            if let Err(error) = ended {
                log::debug!("a connection ended: {error}");
            }
            drop(place);
        });
    }
    drop(listener);
    let limit = entrance.stop_timeout;
    if timeout(limit, graceful.shutdown()).await.is_err() {
        log::warn!("requests did not end within {} ms, and are cut off", limit.as_millis());
    }
}

/// Errors: no agreement with the client within the time for a head.
async fn encrypted<V>(
    tls: &Tls,
    stream: TcpStream,
    service: V,
    watcher: Watcher,
    mut stop: watch::Receiver<bool>,
) -> Result<(), String>
where
    V: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Send
        + 'static,
{
    let accepted = tokio::select! {
        accepted = timeout(HEAD_TIMEOUT, tls.acceptor().accept(stream)) => accepted,
        // It has sent no request, and shall not delay the stop.
        _ = stop.wait_for(|stops| *stops) => return Err("this server stops".to_owned()),
    };
    match accepted {
        Ok(Ok(stream)) => connection(stream, service, watcher).await.map_err(|error| error.to_string()),
        Ok(Err(error)) => Err(format!("no TLS: {error}")),
        Err(_) => Err("no TLS in time".to_owned()),
    }
}

/// No async function: it would keep the connection twice, before and while it is watched.
fn connection<S, V>(
    stream: S,
    service: V,
    watcher: Watcher,
) -> impl Future<Output = Result<(), hyper::Error>> + Send
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    V: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Send
        + 'static,
{
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_TIMEOUT));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MOST_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    watcher.watch(connection)
}

/// The next connection. Beyond the bound none is accepted: the others wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await.and_then(configured) {
        Ok((stream, address)) => Some((stream, address, place)),
        Err(error) => {
            log::warn!("no connection was accepted: {error}");
            sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

fn configured((stream, address): (TcpStream, SocketAddr)) -> io::Result<(TcpStream, SocketAddr)> {
    stream.set_nodelay(true)?;
    Ok((stream, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::service::service_fn;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const ANSWER: usize = 100_000;
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// Answers of which a stream takes one byte and more, but never two whole ones. Returns the client's end, the number
    /// of requests that were answered, and how the connection ends.
    fn connected()
    -> (tokio::io::DuplexStream, Arc<AtomicUsize>, tokio::task::JoinHandle<Result<(), hyper::Error>>) {
        let (client, server) = duplex(ANSWER / 2);
        let answered = Arc::new(AtomicUsize::new(0));
        let counted = answered.clone();
        let service = service_fn(move |_| {
            counted.fetch_add(1, Relaxed);
            async { Ok(Response::new(Body::from("x".repeat(ANSWER)))) }
        });
        let ends = tokio::spawn(async move {
            let graceful = GracefulShutdown::new();
            connection(server, service, graceful.watcher()).await
        });
        (client, answered, ends)
    }

    fn size_of_future<V, F: Future>(
        _: impl Fn(Arc<Entrance>) -> V,
        _: impl Fn(TcpStream, V, Watcher) -> F,
    ) -> usize {
        size_of::<F>()
    }

    /// It is kept as long as the connection, which is idle most of the time.
    #[test]
    fn a_connection_is_small() {
        let bytes = size_of_future(|entrance| entrance.service(None), connection);
        assert!(bytes <= 1024, "{bytes} bytes");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_pipelines_and_never_reads_is_cut_off_and_holds_one_answer() {
        let (mut client, answered, ends) = connected();
        client.write_all(&REQUEST.repeat(100)).await.unwrap();
        let error = timeout(Duration::from_secs(600), ends).await.unwrap().unwrap().unwrap_err().to_string();
        assert!(error.contains("error writing"), "{error}");
        assert_eq!(answered.load(Relaxed), 1, "each is held until it is read");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_pipelines_and_reads_slowly_gets_all() {
        let (mut client, answered, ends) = connected();
        client.write_all(&REQUEST.repeat(20)).await.unwrap();
        let (mut got, mut part) = (0, vec![0; ANSWER / 5]);
        while got < 20 * ANSWER {
            sleep(Duration::from_secs(9)).await;
            got += client.read(&mut part).await.unwrap();
        }
        assert_eq!(answered.load(Relaxed), 20);
        drop(client);
        assert!(ends.await.is_ok());
    }
}
