use super::Env;

/// OpenTelemetry traces, with OpenTelemetry's variable names.
#[derive(Clone, Debug)]
pub struct TraceConfig {
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`: the base URL of an OTLP/HTTP collector; `None` = no traces.
    pub endpoint: Option<String>,
    /// `OTEL_SERVICE_NAME`
    pub service_name: String,
}

impl TraceConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let endpoint = env.find("OTEL_EXPORTER_OTLP_ENDPOINT").map(|url| url.trim_end_matches('/').to_owned());
        if endpoint.as_ref().is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
            let why = "must be the URL of an OTLP/HTTP collector, such as http://127.0.0.1:4318";
            env.refuse("OTEL_EXPORTER_OTLP_ENDPOINT", why.to_owned());
        }
        Self { endpoint, service_name: env.text("OTEL_SERVICE_NAME", "frontdesk") }
    }
}
