//! Traces: the W3C trace context of requests, and where their spans are sent.

use crate::config::draft::Draft;
use crate::config::model::traces::TraceCollector;
use crate::config::table::row::{ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "TraceContext",
        contexts: SERVER,
        takes: Takes::Flag(|d, on| d.config.traces.context = on),
        default: Some("off"),
        because: "a header more, for programs that look at it",
        about: "Each request belongs to a trace: that of its `traceparent` header (W3C Trace Context), or one that begins here. Programs have \
            the header, as of a span of ours, and its trace as TRACE_ID among the variables; logs as `%{trace_id}x`. On with TraceExport.",
        ..ROW
    },
    Row {
        name: "TraceExport",
        contexts: SERVER,
        takes: Takes::Word("url|off", export),
        default: Some("off"),
        because: "only the site knows its collector",
        about: "Where spans of sampled requests are sent by OTLP: `http://collector:4318` or `grpc://collector:4317`. Nothing waits for the collector: what \
            it does not take in time is dropped, and counted in the error log.",
        ..ROW
    },
    Row {
        name: "TraceSample",
        contexts: SERVER,
        takes: Takes::Word("percent", sample),
        default: Some("100%"),
        because: "OpenTelemetry's usual sampler takes all, and does what the caller says",
        about: "How many of the traces that begin here are sampled. A trace that comes with a request is sampled as its `traceparent` says.",
        ..ROW
    },
    Row {
        name: "TraceService",
        contexts: SERVER,
        takes: Takes::Word("name", |d, name| {
            d.config.traces.service = name.to_owned();
            Ok(())
        }),
        default: Some("cameleer"),
        because: "a collector sorts by it",
        about: "The `service.name` of our spans.",
        ..ROW
    },
];

fn export(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.traces.export = match word.to_ascii_lowercase().as_str() {
        "off" => None,
        _ => {
            let collector = TraceCollector::parse(word);
            Some(
                collector
                    .ok_or_else(|| format!("expected off, http://host:port or grpc://host:port, got \"{word}\""))?,
            )
        }
    };
    Ok(())
}

fn sample(draft: &mut Draft, word: &str) -> Result<(), String> {
    let percent = word.strip_suffix('%').unwrap_or(word).trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or_else(|| format!("expected a percentage from 0 to 100, got \"{word}\""))?;
    draft.config.traces.sample = percent / 100.0;
    Ok(())
}
