//! Accepting connections, serving them and shutting down.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;
use tracing::{debug, info, warn};

use super::connection_limit::{ConnectionLimit, ConnectionPermit};
use crate::app::App;
use crate::config::HttpConfig;

/// The most headers that hyper parses. More than [`limit_head`](super::body::limit_head) accepts, because hyper's own refusal has no
/// body and no request id.
const MAX_HEADERS: usize = 1024;
/// How long a connection may take to read its last bytes after every turn has ended.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// Serves on the listener until `shutdown`, then drains running turns for at most `DRAIN_SECONDS`.
pub async fn serve(app: Arc<App>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let connections = Connections::new(&app.config.http, super::router(app.clone()));
    // Closes every connection, also when this future is dropped.
    let _cut = connections.cut.clone().drop_guard();
    let draining = async {
        shutdown.await;
        info!("Shutting down: draining running turns");
        app.drain().await;
    };
    // Accept connections to the end, so that clients receive `draining`.
    tokio::select! {
        () = connections.accept(listener) => {}
        () = draining => {}
    }
    connections.end().await;
}

/// Serves `/metrics` alone, without a key, until this future is dropped.
pub async fn serve_metrics(app: Arc<App>, listener: TcpListener) {
    let connections = Connections::new(&app.config.http, super::metrics_router(app.clone()));
    let _cut = connections.cut.clone().drop_guard();
    connections.accept(listener).await;
}

/// The open connections.
///
/// They use hyper directly, with HTTP/1.1 only: `axum::serve` sets no deadline for a request's head, and its detection of HTTP/2
/// doubles hyper's buffer to 16 KiB for the life of a connection.
struct Connections {
    http: http1::Builder,
    router: Router,
    stall: Option<Duration>,
    limit: Arc<ConnectionLimit>,
    tasks: TaskTracker,
    /// Cancelled to close connections after their current response.
    ending: CancellationToken,
    /// Cancelled to close connections at once.
    cut: CancellationToken,
}

impl Connections {
    fn new(config: &HttpConfig, router: Router) -> Arc<Self> {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(unless_zero(config.head_timeout)).max_headers(MAX_HEADERS);
        let cut = CancellationToken::new();
        Arc::new(Self {
            http,
            router,
            stall: unless_zero(config.stall),
            limit: ConnectionLimit::new(config),
            tasks: TaskTracker::new(),
            ending: cut.child_token(),
            cut,
        })
    }

    async fn accept(self: &Arc<Self>, mut listener: TcpListener) {
        loop {
            let (socket, address) = Listener::accept(&mut listener).await;
            // A connection above the limit is closed at once.
            if let Some(permit) = self.limit.acquire(address.ip()) {
                self.tasks.spawn(self.clone().answer(socket, Peer(address), permit));
            }
        }
    }

    /// Serves the connection until it ends.
    async fn answer(self: Arc<Self>, socket: TcpStream, peer: Peer, _permit: ConnectionPermit) {
        let service = service_fn(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            self.router.clone().call(request)
        });
        let mut connection =
            pin!(self.http.serve_connection(TokioIo::new(with_write_timeout(socket, self.stall)), service));
        let outcome = tokio::select! {
            outcome = connection.as_mut() => outcome,
            () = self.ending.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    outcome = connection => outcome,
                    () = self.cut.cancelled() => return,
                }
            }
        };
        if let Err(error) = outcome {
            debug!(client.address = %peer.0, %error, "Closed a connection because of an error or a malformed request");
        }
    }

    /// Closes idle connections at once, and the others after their response or [`LAST_BYTES`].
    async fn end(&self) {
        self.ending.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(LAST_BYTES, self.tasks.wait()).await;
    }
}

/// Wraps the socket so that a write fails if the client reads nothing for `stall`. A timer inside the response body would not
/// work: hyper does not poll the body while the previous frame is unsent.
fn with_write_timeout(socket: TcpStream, stall: Option<Duration>) -> Pin<Box<TimeoutStream<TcpStream>>> {
    // A delta is a small packet that must be sent at once.
    if let Err(error) = socket.set_nodelay(true) {
        warn!(%error, "Could not set TCP_NODELAY");
    }
    let mut socket = TimeoutStream::new(socket);
    socket.set_write_timeout(stall);
    Box::pin(socket)
}

fn unless_zero(duration: Duration) -> Option<Duration> {
    Some(duration).filter(|duration| !duration.is_zero())
}

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub SocketAddr);
