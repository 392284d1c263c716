//! The items of Apache's `LogFormat`, and ours.
//!
//! | what                               | means                                                              |
//! |------------------------------------|--------------------------------------------------------------------|
//! | `%a` · `%h` · `%A`                 | the client's address · its name if looked up, else the same · ours |
//! | `%{c}a`                            | the address of the connection, behind which a proxy may have named the client |
//! | `%B` · `%b`                        | bytes of body · the same, `-` for none                             |
//! | `%D` · `%T` · `%{ms,us,s}T`        | time taken in µs · in s · in the unit                              |
//! | `%f` · `%H` · `%m` · `%r`          | file · protocol · method · request line                            |
//! | `%{X}i` · `%{X}o`                  | a header of the request · of the response                          |
//! | `%{X}e` · `%{X}n` · `%u`           | the worker's environment, or else a variable of the configuration or the cache · its notes · the user |
//! | `%I` · `%O` · `%S`                 | all bytes received · sent · both; with what TLS adds, but for HTTP/2 those of the stream's HEADERS, CONTINUATION and DATA |
//! | `%k` · `%l` · `%L`                 | earlier requests of the connection · `-` · the request's name, which its lines in the error log have too |
//! | `%p` · `%{canonical,local,remote}p`| ports                                                              |
//! | `%P` · `%{pid}P`                   | process of the worker, or of the front                             |
//! | `%q` · `%U` · `%s` (`%>s`, `%<s`)  | query with its `?` · path · status                                 |
//! | `%t` · `%{format}t`                | when the request came: Apache's way · strftime, `sec`, `msec`, `usec`, `msec_frac`, `usec_frac`, with `begin:` or `end:` before it |
//! | `%v` · `%V`                        | ServerName · the host that was asked for                           |
//! | `%X`                               | `X` aborted · `+` kept · `-` closed                                |
//! | `%{cameleer:queue_us}x`            | µs that it waited for a worker                                     |
//! | `%{cameleer:cpu_us}x`              | µs of CPU that the worker used                                     |
//! | `%{cameleer:worker}x`              | the worker's place in the pool                                     |
//! | `%{trace_id}x`                     | the trace that the request belongs to: see `TraceContext`          |
//! | `%{cameleer:json}x`                | all that is known, as a JSON object: see [`super::json`]           |

use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use http::HeaderMap;
use wire::reply::LogKind;

use super::entry::{Ending, Entry};
use super::json;
use super::time::{ClockText, TimeFormat};
use crate::front::base::protocol::protocol;
use crate::front::base::target;

/// One item; the table above says what each is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table")]
pub enum What {
    RemoteAddress,
    Peer,
    RemoteHost,
    LocalAddress,
    BodyBytes,
    BodyBytesOrDash,
    Took(Unit),
    File,
    Protocol,
    Method,
    RequestLine,
    RequestHeader(String),
    ResponseHeader(String),
    FromWorker(LogKind, String),
    User,
    Received,
    Sent,
    Both,
    Served,
    Dash,
    Name,
    Port(PortOf),
    Process,
    Query,
    Path,
    Status,
    Time(TimeFormat),
    ServerName,
    HostAsked,
    Ending,
    QueueTime,
    CpuTime,
    Worker,
    Json,
    TraceId,
    Tls(String),
}

/// `%{unit}T`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "units")]
pub enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
}

/// `%{whose}p`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum PortOf {
    Canonical,
    Local,
    Remote,
}

impl What {
    /// The item that `%{argument}letter` names.
    pub fn named(letter: char, argument: &str) -> Result<What, String> {
        let unknown = || Err(format!("unknown log item %{{{argument}}}{letter}"));
        Ok(match letter {
            'a' if argument == "c" => What::Peer,
            'a' => What::RemoteAddress,
            'h' => What::RemoteHost,
            'A' => What::LocalAddress,
            'B' => What::BodyBytes,
            'b' => What::BodyBytesOrDash,
            'D' => What::Took(Unit::Microseconds),
            'T' => match argument {
                "" | "s" => What::Took(Unit::Seconds),
                "ms" => What::Took(Unit::Milliseconds),
                "us" => What::Took(Unit::Microseconds),
                _ => return unknown(),
            },
            'f' => What::File,
            'H' => What::Protocol,
            'm' => What::Method,
            'r' => What::RequestLine,
            'i' => What::RequestHeader(argument.to_ascii_lowercase()),
            'o' => What::ResponseHeader(argument.to_ascii_lowercase()),
            'e' => What::FromWorker(LogKind::Env, argument.to_owned()),
            'n' => What::FromWorker(LogKind::Note, argument.to_owned()),
            'u' => What::User,
            'I' => What::Received,
            'O' => What::Sent,
            'S' => What::Both,
            'k' => What::Served,
            'l' => What::Dash,
            'L' => What::Name,
            'p' => What::Port(match argument {
                "" | "canonical" => PortOf::Canonical,
                "local" => PortOf::Local,
                "remote" => PortOf::Remote,
                _ => return unknown(),
            }),
            'P' => What::Process,
            'q' => What::Query,
            'U' => What::Path,
            's' => What::Status,
            't' => What::Time(TimeFormat::named(argument)?),
            'v' => What::ServerName,
            'V' => What::HostAsked,
            'X' => What::Ending,
            'x' => match argument {
                "cameleer:queue_us" => What::QueueTime,
                "cameleer:cpu_us" => What::CpuTime,
                "cameleer:worker" => What::Worker,
                "cameleer:json" => What::Json,
                "trace_id" => What::TraceId,
                "HTTPS" => What::Tls(argument.to_owned()),
                name if name.starts_with("SSL_") => What::Tls(name.to_owned()),
                _ => return unknown(),
            },
            _ => return unknown(),
        })
    }

    /// Appends its value.
    pub fn write(&self, entry: &Entry<'_>, clock: &ClockText, out: &mut Vec<u8>) {
        let head = entry.head;
        let served_by = entry.worker.and_then(|worker| worker.served_by);
        match self {
            What::RemoteAddress => remote_address(out, entry),
            What::Peer => text(out, &entry.peer.ip),
            What::RemoteHost => match entry.client_name {
                Some(name) => text(out, name),
                None => remote_address(out, entry),
            },
            What::LocalAddress => text(out, &entry.local.ip),
            What::BodyBytes => number(out, entry.body_bytes),
            What::BodyBytesOrDash => match entry.body_bytes {
                0 => out.push(b'-'),
                n => number(out, n),
            },
            What::Took(Unit::Seconds) => number(out, entry.took.as_secs()),
            What::Took(Unit::Milliseconds) => number(out, entry.took.as_millis() as u64),
            What::Took(Unit::Microseconds) => number(out, entry.took.as_micros() as u64),
            What::File => {
                escape_or_dash(out, entry.place.map(|place| place.file.as_os_str().as_bytes()));
            }
            What::Protocol | What::Method | What::Path if entry.unreadable().is_some() => out.push(b'-'),
            What::Protocol => text(out, protocol(head.version)),
            What::Method => escape(out, head.method.as_str().as_bytes()),
            What::RequestLine => request_line(out, entry),
            What::RequestHeader(name) => header(out, Some(&head.headers), name),
            What::ResponseHeader(name) => header(out, entry.answer, name),
            What::FromWorker(kind, name) => {
                let told =
                    entry.end().and_then(|end| end.log.iter().find(|(k, n, _)| k == kind && n == name.as_bytes()));
                // What no worker was told of, such as what the cache did, only the front knows.
                let ours = || entry.variables.get(name).filter(|_| *kind == LogKind::Env).map(str::as_bytes);
                escape_or_dash(out, told.map(|(_, _, value)| &value[..]).or_else(ours));
            }
            What::User => match entry.told(LogKind::User).or(entry.user.map(str::as_bytes)) {
                Some(b"") => out.extend_from_slice(b"\"\""),
                user => escape_or_dash(out, user),
            },
            What::Received => number(out, entry.received_bytes),
            What::Sent => number(out, entry.sent_bytes),
            What::Both => number(out, entry.received_bytes + entry.sent_bytes),
            What::Served => number(out, entry.earlier.into()),
            What::Dash => out.push(b'-'),
            What::TraceId => out.extend_from_slice(entry.trace_id.as_deref().unwrap_or("-").as_bytes()),
            What::Name => out.extend_from_slice(entry.name().as_bytes()),
            What::Port(PortOf::Remote) => number(out, entry.peer.port.into()),
            What::Port(PortOf::Local) => number(out, entry.local.port.into()),
            What::Port(PortOf::Canonical) => {
                number(out, entry.host.server_port.unwrap_or(entry.local.port).into());
            }
            What::Process => match served_by {
                Some((_, pid)) => number(out, pid.max(0) as u64),
                None => number(out, std::process::id().into()),
            },
            What::Query => {
                if let Some(query) = target::query(head) {
                    out.push(b'?');
                    escape(out, query);
                }
            }
            What::Path => match entry.place {
                Some(place) => escape(out, place.path),
                None => escape(out, head.uri.path().as_bytes()),
            },
            What::Status => number(out, entry.status.into()),
            What::Time(format) => format.write(entry, clock, out),
            What::ServerName => match &entry.host.server_name {
                Some(name) => escape(out, name.as_bytes()),
                None => text(out, &entry.local.ip),
            },
            What::HostAsked => escape_or_dash(out, entry.place.map(|place| place.host_asked.as_bytes())),
            What::Ending => out.push(match entry.ending {
                Ending::Aborted => b'X',
                Ending::Kept => b'+',
                Ending::Closed => b'-',
            }),
            What::QueueTime => number_or_dash(out, entry.worker.map(|worker| worker.waited.as_micros() as u64)),
            What::CpuTime => number_or_dash(out, entry.end().map(|end| end.cpu_us)),
            What::Worker => number_or_dash(out, served_by.map(|(slot, _)| slot.into())),
            What::Json => json::write(entry, out),
            What::Tls(name) if name == "HTTPS" => escape_or_dash(out, entry.is_secure.then_some(b"on")),
            What::Tls(name) => {
                escape_or_dash(out, (entry.tls)(name).as_deref().map(str::as_bytes));
            }
        }
    }
}

/// A handler may know better who asks, as mod_perl's documents have it for those behind a proxy.
fn remote_address(out: &mut Vec<u8>, entry: &Entry<'_>) {
    match entry.told(LogKind::RemoteIp) {
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

fn header(out: &mut Vec<u8>, headers: Option<&HeaderMap>, name: &str) {
    let mut values = headers.into_iter().flat_map(|headers| headers.get_all(name));
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

/// As httpd's `ap_escape_logitem`: whatever a client sends stays inside its quotes and on its line.
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
