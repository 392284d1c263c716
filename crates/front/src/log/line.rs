//! Lines of access logs in a `LogFormat`.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use http::HeaderValue;
use http::header::COOKIE;
use http::request::Parts;
use wire::reply::LogKind;

use super::entry::{Ending, Entry};
use super::json;
use super::time::ClockText;
use crate::base::protocol::protocol;
use crate::base::target;
use config::log_format::{FormatPiece, LogFormat, LogItem, PortOf, Unit};

/// Appends the line of a request.
pub fn write(format: &LogFormat, entry: &Entry<'_>, clock: &ClockText, out: &mut Vec<u8>) {
    for piece in format.pieces() {
        match piece {
            FormatPiece::Text(text) => out.extend_from_slice(text),
            FormatPiece::Value { only: Some(only), .. } if !only.include(entry.tally.status) => out.push(b'-'),
            FormatPiece::Value { item, .. } => write_item(item, entry, clock, out),
        }
    }
}

/// Appends the value of `item` for a request.
fn write_item(item: &LogItem, entry: &Entry<'_>, clock: &ClockText, out: &mut Vec<u8>) {
    let head = entry.head;
    let served_by = entry.worker.and_then(|worker| worker.served_by);
    match item {
        LogItem::RemoteAddress => remote_address(out, entry),
        LogItem::Peer => text(out, &entry.peer.ip),
        LogItem::RemoteHost => match entry.client_name {
            Some(name) => text(out, name),
            None => remote_address(out, entry),
        },
        LogItem::LocalAddress => text(out, &entry.local.ip),
        LogItem::BodyBytes => number(out, entry.tally.body_bytes),
        LogItem::BodyBytesOrDash => match entry.tally.body_bytes {
            0 => out.push(b'-'),
            n => number(out, n),
        },
        LogItem::Took(Unit::Seconds) => number(out, entry.tally.took.as_secs()),
        LogItem::Took(Unit::Milliseconds) => number(out, entry.tally.took.as_millis() as u64),
        LogItem::Took(Unit::Microseconds) => number(out, entry.tally.took.as_micros() as u64),
        LogItem::File => {
            escape_or_dash(out, entry.place.map(|place| place.file.as_os_str().as_bytes()));
        }
        LogItem::Protocol | LogItem::Method | LogItem::Path if entry.unreadable().is_some() => out.push(b'-'),
        LogItem::Protocol => text(out, protocol(head.version)),
        LogItem::Method => escape(out, head.method.as_str().as_bytes()),
        LogItem::RequestLine => request_line(out, entry),
        LogItem::RequestHeader(name) => match entry.changed {
            Some(changed) => header(out, changed.values(&head.headers, name)),
            None => header(out, head.headers.get_all(name)),
        },
        LogItem::ResponseHeader(name) => {
            header(out, entry.response.into_iter().flat_map(|response| response.get_all(name)))
        }
        LogItem::Cookie(name) => escape_or_dash(out, cookie(head, name)),
        LogItem::Handler => escape_or_dash(out, entry.handler.map(str::as_bytes)),
        LogItem::FromWorker(kind, name) => {
            let value_of_worker =
                entry.end().and_then(|end| end.log.iter().find(|(k, n, _)| k == kind && n == name.as_bytes()));
            // Variables that no worker received, such as the cache's, are known only to the front.
            let ours = || match kind {
                LogKind::Env => (entry.variables)(name),
                LogKind::Note => entry.notes.get(name).cloned(),
                _ => None,
            };
            match value_of_worker {
                Some((_, _, value)) => escape_or_dash(out, Some(value)),
                None => escape_or_dash(out, ours().as_ref().map(String::as_bytes)),
            }
        }
        LogItem::User => match entry.reported(LogKind::User).or(entry.user.map(str::as_bytes)) {
            Some(b"") => out.extend_from_slice(b"\"\""),
            user => escape_or_dash(out, user),
        },
        LogItem::Received => number(out, entry.tally.received_bytes),
        LogItem::Sent => number(out, entry.tally.sent_bytes),
        LogItem::Both => number(out, entry.tally.received_bytes + entry.tally.sent_bytes),
        LogItem::Served => number(out, entry.earlier.into()),
        LogItem::Dash => out.push(b'-'),
        LogItem::TraceId => out.extend_from_slice(entry.trace_id.as_deref().unwrap_or("-").as_bytes()),
        LogItem::Name => out.extend_from_slice(entry.name().as_bytes()),
        LogItem::Port(PortOf::Remote) => number(out, entry.peer.port.into()),
        LogItem::Port(PortOf::Local) => number(out, entry.local.port.into()),
        LogItem::Port(PortOf::Canonical) => {
            number(out, entry.host.server_port.unwrap_or(entry.local.port).into());
        }
        LogItem::Process => match served_by {
            Some((_, pid)) => number(out, pid.max(0) as u64),
            None => number(out, std::process::id().into()),
        },
        LogItem::Query => {
            if let Some(query) = target::query(head) {
                out.push(b'?');
                escape(out, query);
            }
        }
        LogItem::Path => match entry.place {
            Some(place) => escape(out, place.path),
            None => escape(out, head.uri.path().as_bytes()),
        },
        LogItem::Status => number(out, entry.tally.status.into()),
        LogItem::Time(format) => clock.write_as(format, entry, out),
        LogItem::ServerName => match &entry.host.server_name {
            Some(name) => escape(out, name.as_bytes()),
            None => text(out, &entry.local.ip),
        },
        LogItem::HostAsked => escape_or_dash(out, entry.place.map(|place| place.host_asked.as_bytes())),
        LogItem::Ending => out.push(match entry.tally.ending {
            Ending::Aborted => b'X',
            Ending::Kept => b'+',
            Ending::Closed => b'-',
        }),
        LogItem::QueueTime => number_or_dash(out, entry.worker.map(|worker| worker.waited.as_micros() as u64)),
        LogItem::CpuTime => number_or_dash(out, entry.end().map(|end| end.cpu_us)),
        LogItem::Worker => number_or_dash(out, served_by.map(|(slot, _)| slot.into())),
        LogItem::Json => json::write(entry, out),
        LogItem::Tls(name) if name == "HTTPS" => escape_or_dash(out, entry.is_secure.then_some(b"on")),
        LogItem::Tls(name) => {
            escape_or_dash(out, (entry.tls)(name).as_deref().map(str::as_bytes));
        }
    }
}

/// The value of the request's cookie of this name.
fn cookie<'a>(head: &'a Parts, name: &str) -> Option<&'a [u8]> {
    let pairs = head.headers.get_all(COOKIE).iter().flat_map(|list| list.as_bytes().split(|byte| *byte == b';'));
    let mut values = pairs.filter_map(|pair| pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    values.next().map(<[u8]>::trim_ascii)
}

/// Appends the client's address. A handler may have set another, as mod_perl documents for clients behind a proxy.
fn remote_address(out: &mut Vec<u8>, entry: &Entry<'_>) {
    match entry.reported(LogKind::RemoteIp) {
        Some(address) => escape_or_dash(out, Some(address).filter(|address| !address.is_empty())),
        None => text(out, &entry.client.ip),
    }
}

fn request_line(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let head = entry.head;
    if let Some(line) = entry.unreadable() {
        return escape_or_dash(out, Some(line).filter(|line| !line.is_empty()));
    }
    escape(out, head.method.as_str().as_bytes());
    out.push(b' ');
    match (head.uri.scheme(), head.uri.path_and_query()) {
        _ if target::as_sent(head).is_some() => escape(out, target::as_sent(head).unwrap_or_default()),
        (None, Some(target)) => escape(out, target.as_str().as_bytes()),
        _ => escape(out, head.uri.to_string().as_bytes()),
    }
    out.push(b' ');
    text(out, protocol(head.version));
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn number(out: &mut Vec<u8>, n: u64) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{n}");
}

fn number_or_dash(out: &mut Vec<u8>, n: Option<u64>) {
    match n {
        Some(n) => number(out, n),
        None => out.push(b'-'),
    }
}

fn header<'a>(out: &mut Vec<u8>, values: impl IntoIterator<Item = &'a HeaderValue>) {
    let mut values = values.into_iter();
    escape_or_dash(out, values.next().map(|value| value.as_bytes()));
    for value in values {
        out.extend_from_slice(b", ");
        escape(out, value.as_bytes());
    }
}

fn escape_or_dash(out: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        Some(value) => escape(out, value),
        None => out.push(b'-'),
    }
}

/// Escapes like httpd's `ap_escape_logitem`, so that a client's bytes stay within quotes and line.
fn escape(out: &mut Vec<u8>, value: &[u8]) {
    for &byte in value {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x0b => out.extend_from_slice(b"\\v"),
            byte => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
}
