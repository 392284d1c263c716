//! Traces: to which one a request belongs, and the spans that are sent to a collector.

mod context;
mod exporter;
mod otlp;
mod send;
mod span;

pub use context::TraceContext;
pub use exporter::Exporter;
pub use span::{RequestSpan, WorkerSpan};
