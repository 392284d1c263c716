//! Access log lines as JSON objects: `%{cameleer:json}x`, the format `json`. Unknown fields are omitted.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use http::header::{HOST, HeaderName, REFERER, USER_AGENT};
use serde::Serialize;
use wire::reply::LogKind;

use super::entry::{Ending, Entry};
use crate::base::measures::micros;
use crate::base::protocol::protocol;
use crate::base::target;
use base::printable;

/// Text from clients; invalid UTF-8 is replaced by U+FFFD.
type Text<'a> = Cow<'a, str>;

/// Fields of a line, as documented in docs/operating/logs.md.
#[derive(Serialize)]
struct AccessLine<'a> {
    log: &'static str,
    time: String,
    request_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    client: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    /// Target as sent; for an unreadable request, its first line as far as known.
    target: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
    tls: bool,
    status: u16,
    body_bytes: u64,
    received_bytes: u64,
    sent_bytes: u64,
    duration_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referer: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<Text<'a>>,
    connection: &'static str,
}

/// Appends the object, with terminal control characters escaped.
pub fn write(entry: &Entry<'_>, out: &mut Vec<u8>) {
    let line = serde_json::to_string(&AccessLine::of(entry)).unwrap_or_default();
    out.extend_from_slice(printable::json(&line).as_bytes());
}

impl<'a> AccessLine<'a> {
    fn of(entry: &'a Entry<'_>) -> AccessLine<'a> {
        let head = entry.head;
        let (target, is_read) = match entry.unreadable() {
            Some(line) => (lossy(line), false),
            None => (target(entry), true),
        };
        let header = |name: &HeaderName| head.headers.get(name).map(|value| lossy(value.as_bytes()));
        let served_by = entry.worker.and_then(|worker| worker.served_by);
        let client = entry.reported(LogKind::RemoteIp).filter(|address| !address.is_empty());
        AccessLine {
            log: "access",
            request_id: entry.name(),
            forwarded_id: entry.forwarded_id,
            trace_id: entry.trace_id.as_deref(),
            time: DateTime::<Utc>::from(entry.received).to_rfc3339_opts(SecondsFormat::Micros, true),
            client: client.map_or(Cow::Borrowed(&*entry.client.ip), lossy),
            user: entry.reported(LogKind::User).map(lossy).or(entry.user.map(Cow::Borrowed)),
            server: entry.host.server_name.as_deref(),
            host: header(&HOST).or(head.uri.host().map(Cow::Borrowed)),
            method: is_read.then_some(head.method.as_str()),
            target,
            protocol: is_read.then(|| protocol(head.version)),
            tls: entry.is_secure,
            status: entry.tally.status,
            body_bytes: entry.tally.body_bytes,
            received_bytes: entry.tally.received_bytes,
            sent_bytes: entry.tally.sent_bytes,
            duration_us: micros(entry.tally.took),
            queue_us: entry.worker.map(|worker| micros(worker.waited)),
            cpu_us: entry.end().map(|end| end.cpu_us),
            worker: served_by.map(|(slot, _)| slot),
            pid: served_by.map(|(_, pid)| pid),
            referer: header(&REFERER),
            user_agent: header(&USER_AGENT),
            connection: match entry.tally.ending {
                Ending::Aborted => "aborted",
                Ending::Kept => "kept",
                Ending::Closed => "closed",
            },
        }
    }
}

fn target<'a>(entry: &'a Entry<'_>) -> Text<'a> {
    if let Some(sent) = target::as_sent(entry.head) {
        return lossy(sent);
    }
    match (entry.head.uri.scheme(), entry.head.uri.path_and_query()) {
        (None, Some(target)) => Cow::Borrowed(target.as_str()),
        _ => Cow::Owned(entry.head.uri.to_string()),
    }
}

fn lossy(bytes: &[u8]) -> Text<'_> {
    String::from_utf8_lossy(bytes)
}
