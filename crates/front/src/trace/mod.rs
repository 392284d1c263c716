//! Traces: the trace context of a request, and the export of spans to a collector.

mod context;
mod exporter;
mod otlp;
mod send;
mod span;

pub use context::{TraceContext, random};
pub use exporter::Exporter;
pub use span::{RequestSpan, WorkerSpan};
