//! Spans in OTLP protobuf. Names follow OpenTelemetry's semantic conventions for HTTP and databases.

use std::ops::Range;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;

use super::context::{TraceContext, random};
use super::span::{RequestSpan, WorkerSpan};
use crate::base::measures::micros;
use crate::base::protocol::protocol;

const INTERNAL: i32 = 1;
const SERVER: i32 = 2;
const CLIENT: i32 = 3;
const ERROR: i32 = 2;
/// OTLP flag: the parent span belongs to another process.
const REMOTE: u32 = 0x300;

/// Encodes an `ExportTraceServiceRequest`.
pub fn message(service: &str, requests: &[RequestSpan]) -> Vec<u8> {
    let resource = Resource { attributes: vec![text("service.name", service)], ..Resource::default() };
    let scope = InstrumentationScope {
        name: "cameleer".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let spans = requests.iter().flat_map(spans_of).collect();
    let scope_spans = vec![ScopeSpans { scope: Some(scope), spans, schema_url: String::new() }];
    let resource_spans = vec![ResourceSpans { resource: Some(resource), scope_spans, schema_url: String::new() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

fn spans_of(request: &RequestSpan) -> Vec<Span> {
    let mut spans = vec![server(request)];
    if let Some(worker) = &request.worker {
        let trace = &request.trace;
        let begun = request.received_us + micros(worker.began);
        let submitted = begun.saturating_sub(micros(worker.waited));
        spans.push(span(trace, trace.span_id, "queue", INTERNAL, submitted..begun));
        let mut handler = span(trace, trace.span_id, "handler", INTERNAL, begun..begun + micros(worker.served));
        handler.attributes = about(worker);
        let handler_id = id_of(&handler);
        spans.push(handler);
        spans.extend(worker.parts.iter().filter_map(|(name, value)| part(trace, handler_id, name, value)));
    }
    spans
}

fn server(request: &RequestSpan) -> Span {
    let RequestSpan { trace, received_us, took, method, path, .. } = request;
    let mut span = span(trace, trace.parent_id, method, SERVER, *received_us..received_us + micros(*took));
    span.span_id = trace.span_id.to_be_bytes().to_vec();
    if trace.parent_id != 0 {
        span.flags |= REMOTE;
    }
    span.attributes = vec![
        text("http.request.method", method),
        text("url.path", path),
        text("url.scheme", if request.is_secure { "https" } else { "http" }),
        text("server.address", &request.host),
        text("client.address", &request.client),
        text("network.protocol.version", protocol(request.version).trim_start_matches("HTTP/")),
        number("http.response.status_code", i64::from(request.status)),
        text("cameleer.request_id", &request.name),
    ];
    span.attributes.extend(request.user_agent.as_ref().map(|agent| text("user_agent.original", agent)));
    if request.status >= 500 {
        span.attributes.push(text("error.type", &request.status.to_string()));
        span.status = Some(Status { message: String::new(), code: ERROR });
    }
    span
}

fn about(worker: &WorkerSpan) -> Vec<KeyValue> {
    vec![
        number("cameleer.worker", i64::from(worker.slot)),
        number("process.pid", i64::from(worker.pid)),
        number("cameleer.generation", i64::from(worker.generation)),
    ]
}

/// Span of a program. `value` is `BEGUN TAKEN TEXT`, both numbers in µs; the text of a database span is its statement.
fn part(trace: &TraceContext, parent: u64, name: &[u8], value: &[u8]) -> Option<Span> {
    let (name, value) = (String::from_utf8_lossy(name), String::from_utf8_lossy(value));
    let mut words = value.splitn(3, ' ');
    let begun: u64 = words.next()?.parse().ok()?;
    let taken: u64 = words.next()?.parse().ok()?;
    let statement = words.next().unwrap_or_default();
    let kind = if name.starts_with("DBI::") { CLIENT } else { INTERNAL };
    let mut span = span(trace, parent, &name, kind, begun..begun.saturating_add(taken));
    if kind == CLIENT {
        span.attributes.push(text("db.operation.name", name.rsplit("::").next().unwrap_or_default()));
        if !statement.is_empty() {
            span.attributes.push(text("db.query.text", statement));
        }
    }
    Some(span)
}

/// `us` is begin and end, in µs since 1970.
fn span(trace: &TraceContext, parent: u64, name: &str, kind: i32, us: Range<u64>) -> Span {
    Span {
        trace_id: trace.trace_id.to_be_bytes().to_vec(),
        span_id: random().to_be_bytes().to_vec(),
        parent_span_id: if parent == 0 { Vec::new() } else { parent.to_be_bytes().to_vec() },
        name: name.to_owned(),
        kind,
        start_time_unix_nano: us.start.saturating_mul(1000),
        end_time_unix_nano: us.end.saturating_mul(1000),
        flags: u32::from(trace.is_sampled),
        ..Span::default()
    }
}

fn id_of(span: &Span) -> u64 {
    span.span_id.as_slice().try_into().map_or(0, u64::from_be_bytes)
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
