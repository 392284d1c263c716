//! Traces: the W3C trace context of requests, and the export of spans.

use crate::draft::Draft;
use crate::model::traces::TraceCollector;
use crate::table::row::{Row, SERVER, flag, rows, word};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    flag("TraceContext", SERVER, |d, on| d.config.traces.context = on)
        .default("off", "only some programs read this header"),
    "Each request belongs to a trace: the trace of its `traceparent` header (W3C Trace Context), or a new one. \
     Programs get a `traceparent` header with our span, and the variable TRACE_ID; log formats have `%{trace_id}x`. \
     TraceExport turns it on.",
    word("TraceExport", SERVER, "url|off", export).default("off", "only the site knows its collector"),
    "Collector to which spans of sampled requests are sent by OTLP: `http://collector:4318` or \
     `grpc://collector:4317`. Requests never wait for it. Spans that it does not accept in time are dropped, and the \
     error log has their number.",
    word("TraceSample", SERVER, "percent", sample)
        .default("100%", "OpenTelemetry's default sampler samples all, and follows the caller's decision"),
    "Percentage of new traces that are sampled. For other traces, the `traceparent` header of the request decides.",
    word("TraceService", SERVER, "name", |d, name| {
        d.config.traces.service = name.to_owned();
        Ok(())
    })
    .default("cameleer", "collectors group spans by this name"),
    "The `service.name` of the exported spans.",
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
