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
//! | `%{cameleer:json}x`                | all that is known, as a JSON object: see docs/operating/logs.md           |

use wire::reply::LogKind;

use super::time::TimeFormat;

/// One item of the table above.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table")]
pub enum LogItem {
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

impl LogItem {
    /// The item that `%{argument}letter` names.
    pub fn named(letter: char, argument: &str) -> Result<LogItem, String> {
        let unknown = || Err(format!("unknown log item %{{{argument}}}{letter}"));
        Ok(match letter {
            'a' if argument == "c" => LogItem::Peer,
            'a' => LogItem::RemoteAddress,
            'h' => LogItem::RemoteHost,
            'A' => LogItem::LocalAddress,
            'B' => LogItem::BodyBytes,
            'b' => LogItem::BodyBytesOrDash,
            'D' => LogItem::Took(Unit::Microseconds),
            'T' => match argument {
                "" | "s" => LogItem::Took(Unit::Seconds),
                "ms" => LogItem::Took(Unit::Milliseconds),
                "us" => LogItem::Took(Unit::Microseconds),
                _ => return unknown(),
            },
            'f' => LogItem::File,
            'H' => LogItem::Protocol,
            'm' => LogItem::Method,
            'r' => LogItem::RequestLine,
            'i' => LogItem::RequestHeader(argument.to_ascii_lowercase()),
            'o' => LogItem::ResponseHeader(argument.to_ascii_lowercase()),
            'e' => LogItem::FromWorker(LogKind::Env, argument.to_owned()),
            'n' => LogItem::FromWorker(LogKind::Note, argument.to_owned()),
            'u' => LogItem::User,
            'I' => LogItem::Received,
            'O' => LogItem::Sent,
            'S' => LogItem::Both,
            'k' => LogItem::Served,
            'l' => LogItem::Dash,
            'L' => LogItem::Name,
            'p' => LogItem::Port(match argument {
                "" | "canonical" => PortOf::Canonical,
                "local" => PortOf::Local,
                "remote" => PortOf::Remote,
                _ => return unknown(),
            }),
            'P' => LogItem::Process,
            'q' => LogItem::Query,
            'U' => LogItem::Path,
            's' => LogItem::Status,
            't' => LogItem::Time(TimeFormat::named(argument)?),
            'v' => LogItem::ServerName,
            'V' => LogItem::HostAsked,
            'X' => LogItem::Ending,
            'x' => match argument {
                "cameleer:queue_us" => LogItem::QueueTime,
                "cameleer:cpu_us" => LogItem::CpuTime,
                "cameleer:worker" => LogItem::Worker,
                "cameleer:json" => LogItem::Json,
                "trace_id" => LogItem::TraceId,
                "HTTPS" => LogItem::Tls(argument.to_owned()),
                name if name.starts_with("SSL_") => LogItem::Tls(name.to_owned()),
                _ => return unknown(),
            },
            _ => return unknown(),
        })
    }
}
