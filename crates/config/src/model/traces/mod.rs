//! `TraceContext`, `TraceExport`, `TraceSample`, `TraceService`.

mod collector;

pub use collector::TraceCollector;

/// Distributed traces as in W3C Trace Context; off by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traces {
    /// `TraceContext`: requests have a trace context, which is passed to programs.
    pub context: bool,
    /// `TraceExport`: where spans are sent.
    pub export: Option<TraceCollector>,
    /// `TraceSample`: fraction of new traces that are sampled, from 0 to 1.
    pub sample: f64,
    /// `TraceService`
    pub service: String,
}

impl Traces {
    /// Whether requests have a trace context.
    pub fn are_kept(&self) -> bool {
        self.context || self.export.is_some()
    }
}
