//! Traces: the W3C trace context of requests, and their spans at a collector.

mod collector;
mod context;
mod export;
