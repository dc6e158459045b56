//! Serving until told to end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tracing::{info, warn};

use crate::app::App;

/// How long connections get to take their last bytes once every turn has ended.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// Serves on the listener until `shutdown`, then lets running turns end, for at most `DRAIN_SECONDS`.
///
/// # Errors
/// The listener cannot be used.
pub async fn serve(app: Arc<App>, listener: TcpListener, shutdown: impl Future<Output = ()>) -> std::io::Result<()> {
    let listener = listener.tap_io(|connection| {
        // A delta is a small packet that must not wait for the next one.
        if let Err(error) = connection.set_nodelay(true) {
            warn!(%error, "TCP_NODELAY cannot be set");
        }
    });
    let router = super::router(app.clone()).into_make_service_with_connect_info::<SocketAddr>();
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
