//! Serving until told to end.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tracing::{info, warn};

use crate::app::App;

/// How long connections get to take their last bytes once every turn has ended.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// Serves on the listener until `shutdown`, then lets running turns end, for at most `DRAIN_SECONDS`.
///
/// # Errors
/// The listener cannot be used.
pub async fn serve(app: Arc<App>, listener: TcpListener, shutdown: impl Future<Output = ()>) -> std::io::Result<()> {
    let listener = Patient { listener, stall: app.config.http.stall };
    let router = super::router(app.clone()).into_make_service_with_connect_info::<Peer>();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        // A dropped sender means the same.
        let _ = ended.await;
    });
    let server = std::pin::pin!(server.into_future());
    let mut server = server;
    tokio::select! {
        result = &mut server => return result,
        () = shutdown => {}
    }
    info!("Going down: no new messages; running turns may end");
    let drained = async {
        app.drain().await;
        let _ = end.send(());
    };
    tokio::select! {
        result = &mut server => return result,
        () = drained => {}
    }
    // Idle connections close at once; one that does not take its last bytes is left behind.
    match tokio::time::timeout(LAST_BYTES, server).await {
        Ok(result) => result,
        Err(_) => Ok(()),
    }
}

/// Accepts connections that are given up when their client takes nothing for a while. Only the socket can tell: nobody
/// asks a body for its next piece while the last one waits to be taken.
struct Patient {
    listener: TcpListener,
    stall: Duration,
}

impl Listener for Patient {
    type Io = Pin<Box<TimeoutStream<TcpStream>>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (connection, address) = Listener::accept(&mut self.listener).await;
        // A delta is a small packet that must not wait for the next one.
        if let Err(error) = connection.set_nodelay(true) {
            warn!(%error, "TCP_NODELAY cannot be set");
        }
        let mut connection = TimeoutStream::new(connection);
        connection.set_write_timeout(Some(self.stall).filter(|stall| !stall.is_zero()));
        (Box::pin(connection), address)
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub SocketAddr);

impl Connected<IncomingStream<'_, Patient>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Patient>) -> Self {
        Self(*stream.remote_addr())
    }
}
