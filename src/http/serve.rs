//! Serving until told to end.

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

use super::places::{Place, Places};
use crate::app::App;
use crate::config::HttpConfig;

/// How long connections get to take their last bytes once every turn has ended.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// Serves on the listener until `shutdown`, then lets running turns end, for at most `DRAIN_SECONDS`.
pub async fn serve(app: Arc<App>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let connections = Connections::new(&app.config.http, super::router(app.clone()));
    // Also when this future is dropped.
    let _cut = connections.cut.clone().drop_guard();
    let going_down = async {
        shutdown.await;
        info!("Going down: no new messages; running turns may end");
        app.drain().await;
    };
    // Connections are accepted to the very end: who asks meanwhile is told that the server goes down.
    tokio::select! {
        () = connections.accept(listener) => {}
        () = going_down => {}
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
/// They are hyper's, and HTTP/1.1: `axum::serve` sets no deadline for a request's head, and takes the first bytes apart in
/// search of HTTP/2, after which hyper's buffer is 16 KiB instead of 8 for the connection's whole life.
struct Connections {
    http: http1::Builder,
    router: Router,
    stall: Option<Duration>,
    places: Arc<Places>,
    tasks: TaskTracker,
    /// What is being answered may end, and nothing new is taken.
    ending: CancellationToken,
    /// Nothing goes on.
    cut: CancellationToken,
}

impl Connections {
    fn new(config: &HttpConfig, router: Router) -> Arc<Self> {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(unless_zero(config.head_timeout));
        let cut = CancellationToken::new();
        Arc::new(Self {
            http,
            router,
            stall: unless_zero(config.stall),
            places: Places::new(config),
            tasks: TaskTracker::new(),
            ending: cut.child_token(),
            cut,
        })
    }

    async fn accept(self: &Arc<Self>, mut listener: TcpListener) {
        loop {
            let (socket, address) = Listener::accept(&mut listener).await;
            // A connection without a place is closed at once.
            if let Some(place) = self.places.take(address.ip()) {
                self.tasks.spawn(self.clone().answer(socket, Peer(address), place));
            }
        }
    }

    /// Answers the connection's requests until it ends.
    async fn answer(self: Arc<Self>, socket: TcpStream, peer: Peer, _place: Place) {
        let service = service_fn(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            self.router.clone().call(request)
        });
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(patient(socket, self.stall)), service));
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

    /// Idle connections close at once; one that does not take its last bytes is left behind.
    async fn end(&self) {
        self.ending.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(LAST_BYTES, self.tasks.wait()).await;
    }
}

/// The connection, given up when its client takes nothing for as long as `stall`. Only the socket can tell: nobody asks a
/// body for its next piece while the last one waits to be taken.
fn patient(socket: TcpStream, stall: Option<Duration>) -> Pin<Box<TimeoutStream<TcpStream>>> {
    // A delta is a small packet that must not wait for the next one.
    if let Err(error) = socket.set_nodelay(true) {
        warn!(%error, "TCP_NODELAY cannot be set");
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
