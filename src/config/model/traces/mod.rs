//! `TraceContext`, `TraceExport` and what stands beside them.

mod collector;

pub use collector::TraceCollector;

/// What is made of traces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traces {
    /// `TraceContext`: requests have one, and hand it on.
    pub context: bool,
    /// `TraceExport`: where spans are sent.
    pub export: Option<TraceCollector>,
    /// `TraceSample`: of the traces that begin here, so many are sampled, from 0 to 1.
    pub sample: f64,
    /// `TraceService`
    pub service: String,
}

impl Traces {
    /// Whether requests have a context: to hand on, or to be exported.
    pub fn are_kept(&self) -> bool {
        self.context || self.export.is_some()
    }
}
