//! A streamed reply with the gateway's timeouts.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::task::yield_now;
use tokio::time::{timeout, timeout_at};

use super::{Attempt, Instant, Place};
use crate::providers::llm::spoken::Spoken;
use crate::providers::llm::{ChatRequest, Deltas, LlmError, Phase};

/// A started reply. While it runs, it holds the connection, a place among the running calls, and the breaker's pass.
struct Reply {
    running: Option<Running>,
    /// Text that was received already.
    ready: Option<String>,
    spoken: Spoken,
    between_tokens: Duration,
}

/// Fields are dropped in this order: the connection is closed before the next call is admitted.
struct Running {
    deltas: Deltas,
    attempt: Attempt,
    _place: Place,
}

/// Starts the reply and waits for its first text.
pub(super) async fn start(attempt: Attempt, place: Place, request: ChatRequest) -> Result<Deltas, LlmError> {
    let config = &attempt.gateway.config;
    let between_tokens = config.between_tokens_timeout;
    let asked = Instant::now();
    let deadline = asked + config.first_token_timeout;
    let model = attempt.gateway.model.clone();
    let mut spoken = Spoken::default();
    let opened = timeout_at(deadline, async {
        let mut deltas = model.stream(request).await?;
        loop {
            match deltas.next().await {
                Some(piece) => {
                    let text = spoken.push(piece?);
                    if !text.is_empty() {
                        return Ok((text, Some(deltas)));
                    }
                }
                None => match spoken.finish() {
                    text if text.is_empty() => return Err(LlmError::Empty),
                    text => return Ok((text, None)),
                },
            }
        }
    });
    match opened.await.unwrap_or(Err(LlmError::Timeout(Phase::FirstToken))) {
        Ok((first, deltas)) => {
            metrics::histogram!("frontdesk_llm_first_token_seconds").record(asked.elapsed());
            let running = match deltas {
                Some(deltas) => {
                    attempt.call.report_first_text();
                    Some(Running { deltas, attempt, _place: place })
                }
                None => {
                    attempt.end(None);
                    None
                }
            };
            let reply = Reply { running, ready: Some(first), spoken, between_tokens };
            Ok(Box::pin(stream::unfold(reply, |mut reply| async { Some((reply.next().await?, reply)) })))
        }
        Err(error) => {
            attempt.end(Some(&error));
            Err(error)
        }
    }
}

impl Reply {
    /// Returns the next piece, or `None` once the reply has ended.
    async fn next(&mut self) -> Option<Result<String, LlmError>> {
        if let Some(text) = self.ready.take() {
            return Some(Ok(text));
        }
        loop {
            // A reply that arrives all at once would keep other customers waiting for their first words.
            yield_now().await;
            let deltas = &mut self.running.as_mut()?.deltas;
            match timeout(self.between_tokens, deltas.next()).await {
                Ok(Some(Ok(piece))) => match self.spoken.push(piece) {
                    text if text.is_empty() => continue,
                    text => return Some(Ok(text)),
                },
                Ok(Some(Err(error))) => return Some(Err(self.end(error))),
                Ok(None) => {
                    self.running.take()?.end(None);
                    let rest = self.spoken.finish();
                    return if rest.is_empty() { None } else { Some(Ok(rest)) };
                }
                Err(_) => return Some(Err(self.end(LlmError::Timeout(Phase::BetweenTokens)))),
            }
        }
    }

    fn end(&mut self, error: LlmError) -> LlmError {
        if let Some(running) = self.running.take() {
            running.end(Some(&error));
        }
        error
    }
}

impl Running {
    fn end(self, error: Option<&LlmError>) {
        drop(self.deltas);
        self.attempt.end(error);
    }
}
