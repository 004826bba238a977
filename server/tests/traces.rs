//! Traces of a real server at a real collector, which decodes them by OpenTelemetry's own messages.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use common::{Server, Store};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const PATIENCE: Duration = Duration::from_secs(120);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector, which sends on what it gets.
struct Collector {
    url: String,
    _runtime: tokio::runtime::Runtime,
    batches: Receiver<ExportTraceServiceRequest>,
}

impl Collector {
    fn new() -> Collector {
        Collector::with(None)
    }

    fn with(tls: Option<TlsAcceptor>) -> Collector {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (sender, batches) = channel();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let app = axum::Router::new().route("/v1/traces", post(take)).with_state(sender);
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (app, tls) = (app.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(app, stream).await,
                        Some(tls) => {
                            // One that does not trust the certificate ends the handshake.
                            let Ok(stream) = tls.accept(stream).await else { return };
                            serve(app, stream).await;
                        }
                    }
                });
            }
        });
        Collector { url, _runtime: runtime, batches }
    }

    /// The spans of the next batches, until `holds`.
    fn spans(&self, holds: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let (deadline, mut found) = (Instant::now() + PATIENCE, Vec::new());
        while !holds(&found) {
            let left = deadline.saturating_duration_since(Instant::now());
            let batch = self.batches.recv_timeout(left).unwrap_or_else(|_| panic!("not in time: {found:#?}"));
            for of_resource in batch.resource_spans {
                let resource = of_resource.resource.unwrap_or_default();
                assert_eq!(text(&resource.attributes, "service.name"), "leafid-server");
                found.extend(of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        }
        found
    }
}

async fn serve(app: axum::Router, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let service = hyper_util::service::TowerToHyperService::new(app);
    let served = hyper::server::conn::http1::Builder::new()
        .serve_connection(hyper_util::rt::TokioIo::new(stream), service);
    let _ = served.await;
}

async fn take(State(sender): State<Sender<ExportTraceServiceRequest>>, body: Bytes) {
    sender.send(ExportTraceServiceRequest::decode(body).unwrap()).unwrap();
}

fn value<'a>(attributes: &'a [KeyValue], name: &str) -> &'a Value {
    let found = attributes.iter().find(|attribute| attribute.key == name);
    found
        .and_then(|found| found.value.as_ref()?.value.as_ref())
        .unwrap_or_else(|| panic!("no {name}: {attributes:?}"))
}

fn text<'a>(attributes: &'a [KeyValue], name: &str) -> &'a str {
    match value(attributes, name) {
        Value::StringValue(text) => text,
        other => panic!("{name} is {other:?}"),
    }
}

fn path(request: &Span) -> &str {
    text(&request.attributes, "url.path")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The status and the body of an answer.
fn ask(server: &Server, request: &str, headers: &str) -> (String, String) {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n"
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let body = rest.split_once("\r\n\r\n").unwrap().1;
    (status.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
}

fn traced(store: &Store, url: &str) -> Server {
    traced_within(store, url, &[])
}

fn traced_within(store: &Store, url: &str, environment: &[(&str, &str)]) -> Server {
    let options = ["--otlp-endpoint", url, "--warm-tags", "0", "--no-snowflake"];
    Server::within(&store.url, &options, environment)
}

#[test]
fn a_request_is_a_span_below_its_traceparent_and_the_store_s_part_is_its_child() {
    let (store, collector) = (Store::new("traces"), Collector::new());
    let server = traced(&store, &collector.url);
    let headers = format!("traceparent: 00-{TRACE}-{PARENT}-01\r\nX-Request-Id: request-7\r\n");
    let range = format!("POST /api/segment/range/{}?step=10&nonce=1", store.tag);
    assert_eq!(ask(&server, &range, &headers).0, "200");
    assert_eq!(ask(&server, &format!("GET /api/segment/get/{}", store.tag), "").0, "200");
    assert_eq!(ask(&server, "GET /api/segment/get/none", "").0, "500");
    let spans = collector.spans(|spans| spans.iter().filter(|span| span.kind == 2).count() == 3);
    let child = |parent: &Span| {
        let children: Vec<_> = spans.iter().filter(|span| span.parent_span_id == parent.span_id).collect();
        assert!(
            children.iter().all(|child| child.trace_id == parent.trace_id && child.kind == 3),
            "{children:?}"
        );
        children
    };

    let request = spans.iter().find(|span| span.name == "POST /api/segment/range/{tag}").unwrap();
    assert_eq!((hex(&request.trace_id), hex(&request.parent_span_id)), (TRACE.to_owned(), PARENT.to_owned()));
    assert_eq!(text(&request.attributes, "http.request.header.x-request-id"), "request-7");
    assert_eq!(path(request), format!("/api/segment/range/{}", store.tag));
    assert_eq!(*value(&request.attributes, "http.response.status_code"), Value::IntValue(200));
    let [in_store] = child(request)[..] else { panic!("{spans:#?}") };
    assert!(in_store.name.starts_with("take_range "), "{}", in_store.name);
    assert_eq!(text(&in_store.attributes, "db.operation.name"), "take_range");
    assert!(
        ["sqlite", "mysql", "postgresql", "etcd"].contains(&text(&in_store.attributes, "db.system.name"))
    );
    assert!(request.start_time_unix_nano <= in_store.start_time_unix_nano);
    assert!(in_store.end_time_unix_nano <= request.end_time_unix_nano);

    // Its ids come from a buffer, whose fetch was begun for this request.
    let single = spans
        .iter()
        .find(|span| span.name == "GET /api/segment/get/{tag}" && path(span).ends_with(&store.tag));
    let single = single.unwrap();
    assert!(hex(&single.trace_id) != TRACE && single.parent_span_id.is_empty());
    assert!(
        child(single).iter().all(|span| span.name.starts_with("take_range ")) && !child(single).is_empty()
    );

    let failed = spans.iter().find(|span| span.kind == 2 && path(span).ends_with("/none"));
    assert_eq!(failed.unwrap().status.as_ref().unwrap().code, 2, "an error");
}

#[test]
fn what_the_caller_does_not_record_is_not_recorded_here() {
    let (store, collector) = (Store::new("unsampled"), Collector::new());
    let server = traced(&store, &collector.url);
    let range = format!("POST /api/segment/range/{}?step=10&nonce=1", store.tag);
    assert_eq!(ask(&server, &range, &format!("traceparent: 00-{TRACE}-{PARENT}-00\r\n")).0, "200");
    assert_eq!(ask(&server, "GET /none", "").0, "404");
    assert_eq!(ask(&server, "GET //health/", "").0, "200");
    let spans = collector.spans(|spans| spans.iter().any(|span| span.name == "GET /health"));
    let names: Vec<_> = spans.iter().map(|span| &span.name[..]).collect();
    assert_eq!(names, ["GET", "GET /health"], "a path without a route has its method alone: {spans:#?}");
}

#[test]
fn a_collector_that_is_down_or_silent_slows_no_request_and_no_stop() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // A silent one takes ten seconds a batch: requests that wait until the queue has room take a quarter of an hour.
    let small = [("OTEL_BSP_MAX_QUEUE_SIZE", "10"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")];
    for (test, address) in [("silent", silent.local_addr().unwrap()), ("down", free)] {
        let store = Store::new(test);
        let server = traced_within(&store, &format!("http://{address}"), &small);
        let begun = Instant::now();
        for _ in 0..100 {
            assert_eq!(ask(&server, &format!("GET /api/segment/get/{}", store.tag), "").0, "200");
            assert!(begun.elapsed() < 2 * PATIENCE, "requests wait for the collector");
        }
        let stopping = Instant::now();
        assert!(server.stop().success());
        assert!(stopping.elapsed() < PATIENCE / 2, "{:?}", stopping.elapsed());
    }
}

#[test]
fn the_variable_of_all_programs_names_a_collector_and_the_last_spans_are_sent_at_a_stop() {
    let (store, collector) = (Store::new("variable"), Collector::new());
    let environment =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "600000")];
    let server = Server::within(&store.url, &["--warm-tags", "0"], &environment);
    assert_eq!(ask(&server, "GET /health", "").0, "200");
    assert!(server.stop().success());
    assert_eq!(collector.spans(|spans| !spans.is_empty())[0].name, "GET /health");
}

#[test]
fn over_tls_the_authority_is_that_of_the_variable_or_one_of_the_system_s() {
    let store = Store::new("tls");
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let chain = vec![params.signed_by(&key, &issuer).unwrap().der().clone()];
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let collector = Collector::with(Some(TlsAcceptor::from(Arc::new(config))));
    let file = std::env::temp_dir().join(format!("leafid-server-{}.pem", store.tag));
    std::fs::write(&file, issuer.pem()).unwrap();
    let path = file.to_str().unwrap();
    let options = ["--otlp-endpoint", &collector.url, "--warm-tags", "0", "--no-snowflake"];
    let stopped = |environment: &[(&str, &str)]| {
        let server = Server::within(&store.url, &options, environment);
        assert_eq!(ask(&server, "GET /health", "").0, "200");
        assert!(server.stop().success());
    };
    for variable in ["OTEL_EXPORTER_OTLP_CERTIFICATE", "SSL_CERT_FILE"] {
        stopped(&[(variable, path)]);
        assert_eq!(collector.spans(|spans| !spans.is_empty())[0].name, "GET /health", "{variable}");
    }
    stopped(&[]);
    assert!(matches!(collector.batches.try_recv(), Err(TryRecvError::Empty)), "it trusts everybody");
    std::fs::remove_file(&file).unwrap();
    let refused = std::process::Command::new(common::PROGRAM)
        .args(["--store", &store.url, "--listen", "127.0.0.1:0"])
        .args(options)
        .env("OTEL_EXPORTER_OTLP_CERTIFICATE", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("OTEL_EXPORTER_OTLP_CERTIFICATE"), "{said}");
}
