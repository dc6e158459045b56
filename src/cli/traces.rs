//! Sends spans of turns and their steps to an OpenTelemetry collector.
//!
//! While the collector is down, spans are lost after one warning. Turns are not affected, and the shutdown waits briefly.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use axum::http::{Request, Response};
use bytes::Bytes;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

use crate::config::TraceConfig;

/// The timeout of one request to the collector.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long sending the last spans may delay the shutdown.
const LAST_SPANS: Duration = Duration::from_secs(2);
/// The modules whose spans are sent. Spans of HTTP requests are not sent, since event streams last for hours.
const SENT: [&str; 3] = ["frontdesk::turn", "frontdesk::desks", "frontdesk::dialogue"];

/// The connection to the collector.
pub(super) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Returns `None` if no collector is configured. Does not connect yet.
    ///
    /// # Errors
    /// Fails if the collector's address is not valid.
    pub fn begin(config: &TraceConfig) -> anyhow::Result<Option<Self>> {
        let Some(endpoint) = &config.endpoint else { return Ok(None) };
        let cannot = || format!("OTEL_EXPORTER_OTLP_ENDPOINT={endpoint} is not valid");
        let http = reqwest::Client::builder().timeout(REQUEST_TIMEOUT).build().with_context(cannot)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(http))
            .with_endpoint(format!("{endpoint}/v1/traces"))
            .build()
            .with_context(cannot)?;
        let resource = Resource::builder().with_service_name(config.service_name.clone()).build();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
        Ok(Some(Self { provider }))
    }

    /// Creates the layer that exports spans, without log lines.
    pub fn layer(&self) -> impl Layer<Registry> + use<> {
        let sent = |target: &str| SENT.iter().any(|module| target.starts_with(module));
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("frontdesk"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(move |metadata| metadata.is_span() && sent(metadata.target())))
    }

    /// Sends the remaining spans.
    pub async fn end(self) {
        let ended = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(LAST_SPANS));
        if !matches!(ended.await, Ok(Ok(()))) {
            warn!("Cannot send the last traces");
        }
    }
}

/// The exporter's HTTP client. It sends on the program's runtime, since the exporter runs on a separate thread.
struct Collector {
    http: reqwest::Client,
    runtime: Handle,
    tasks: TaskTracker,
    /// Whether the last request failed, so that an outage is logged once.
    down: Arc<AtomicBool>,
}

impl Collector {
    fn new(http: reqwest::Client) -> Self {
        Self { http, runtime: Handle::current(), tasks: TaskTracker::new(), down: Arc::default() }
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (http, down) = (self.http.clone(), self.down.clone());
        let sending = async move {
            let answer = send(&http, request).await;
            let failed = answer.as_ref().map_or(true, |answer| !answer.status().is_success());
            match (failed, down.swap(failed, Ordering::Relaxed)) {
                (true, false) => {
                    let why = match &answer {
                        Ok(answer) => answer.status().to_string(),
                        Err(error) => error.to_string(),
                    };
                    warn!(error = why, "The trace collector is down, losing traces until it answers");
                }
                (false, true) => info!("The trace collector answers again"),
                _ => {}
            }
            answer
        };
        Ok(self.tasks.spawn_on(sending, &self.runtime).await??)
    }
}

async fn send(http: &reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
    let request = request.try_into()?;
    // The URL may contain a password.
    let mut answer = http.execute(request).await.map_err(reqwest::Error::without_url)?;
    let headers = std::mem::take(answer.headers_mut());
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = answer.status();
    *response.headers_mut() = headers;
    *response.body_mut() = answer.bytes().await.map_err(reqwest::Error::without_url)?;
    Ok(response)
}
