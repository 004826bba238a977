//! The spans of requests, and of what the store does for them.

use super::collector::Collector;
use axum::http::{Method, Request};
use leafid_core::{Error, Result};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{FutureExt, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// How long a stop waits for the last spans.
const STOP: Duration = Duration::from_secs(3);
const NAME: &str = "leafid-server";
/// The longest id of a request that is taken over, in bytes.
const LONGEST_ID: usize = 128;

static TRACING: OnceLock<(SdkTracerProvider, SdkTracer)> = OnceLock::new();

/// The span of a request.
pub(crate) struct RequestSpan(Context);

impl RequestSpan {
    /// Begins it, below the span of the header `traceparent`.
    pub(crate) fn begin<B>(request: &Request<B>) -> RequestSpan {
        let headers = request.headers();
        let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
        let Some((_, tracer)) = TRACING.get() else { return RequestSpan(parent) };
        let method = request.method().as_str();
        let mut attributes = vec![
            KeyValue::new("http.request.method", method.to_owned()),
            KeyValue::new("url.path", request.uri().path().to_owned()),
        ];
        let id = headers.get("x-request-id").and_then(|id| id.to_str().ok());
        if let Some(id) = id.filter(|id| id.len() <= LONGEST_ID) {
            attributes.push(KeyValue::new("http.request.header.x-request-id", id.to_owned()));
        }
        let builder = tracer.span_builder(method.to_owned());
        let builder = builder.with_kind(SpanKind::Server).with_attributes(attributes);
        RequestSpan(parent.with_span(builder.start_with_context(tracer, &parent)))
    }

    /// Its request has this route: the path with names for its parts.
    pub(crate) fn routed(&self, method: &Method, route: &'static str) {
        let span = self.0.span();
        span.update_name(format!("{method} {route}"));
        span.set_attribute(KeyValue::new("http.route", route));
    }

    /// Calls of the store belong to it.
    pub(crate) async fn within<F: Future>(&self, work: F) -> F::Output {
        work.with_context(self.0.clone()).await
    }

    pub(crate) fn end(&self, status: u16) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if status >= 500 {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// Sends traces to a collector from now on: `/v1/traces` below this URL. Errors: `invalid_argument`.
pub(crate) fn start(endpoint: &str) -> Result<()> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new(endpoint)?)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .with_protocol(Protocol::HttpBinary)
        .build()
        .map_err(|error| Error::invalid("otlp-endpoint", error, "the URL of a collector"))?;
    let mut resource =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name(NAME);
    }
    let provider =
        SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let tracer = provider.tracer(NAME);
    let _ = TRACING.set((provider, tracer));
    Ok(())
}

pub(crate) fn is_on() -> bool {
    TRACING.get().is_some()
}

/// Work that goes on beside a request, and belongs to it.
pub(crate) fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    work.with_context(Context::current())
}

/// A call of the store. It has a span if it belongs to a request that has one.
pub(crate) async fn in_store<T>(
    store: &'static str,
    operation: &'static str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let parent = Context::current();
    let Some((_, tracer)) = TRACING.get().filter(|_| parent.has_active_span()) else { return work.await };
    let builder = tracer.span_builder(format!("{operation} {store}"));
    let builder = builder.with_kind(SpanKind::Client).with_attributes(vec![
        KeyValue::new("db.system.name", store.to_ascii_lowercase()),
        KeyValue::new("db.operation.name", operation),
    ]);
    let context = parent.with_span(builder.start_with_context(tracer, &parent));
    let done = work.with_context(context.clone()).await;
    if let Err(error) = &done {
        context.span().set_status(Status::error(error.message().to_owned()));
    }
    context.span().end();
    done
}

/// Sends the last spans.
pub(crate) async fn stop() {
    if let Some((provider, _)) = TRACING.get() {
        let stopped = spawn_blocking(|| provider.shutdown_with_timeout(STOP)).await;
        if let Ok(Err(error)) = stopped {
            log::warn!("the last traces were not sent: {error}");
        }
    }
}
