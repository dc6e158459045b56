//! How long a request waits for the store.

use tracing::warn;

use super::error::ApiError;
use crate::app::App;

/// The work's outcome, or `unavailable` after `REQUEST_STORE_TIMEOUT_SECONDS`, long before the journal gives the store
/// up: who waits for an answer is told soon. What the engine was asked to do may still come to pass; a client that sent an
/// `Idempotency-Key` asks again with it.
pub(super) async fn in_time<T, E: Into<ApiError>>(
    app: &App,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, ApiError> {
    match tokio::time::timeout(app.config.http.store_timeout, work).await {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(_) => {
            warn!("The store did not answer a request in time");
            Err(ApiError::Unavailable)
        }
    }
}
