//! The items of Apache's `LogFormat`, and Cameleer's own.
//!
//! | what                               | means                                                              |
//! |------------------------------------|--------------------------------------------------------------------|
//! | `%a` · `%h` · `%A`                 | the client's address · its name if looked up, else its address · the server's address |
//! | `%{c}a`                            | the connection's address, which may be that of a proxy |
//! | `%B` · `%b`                        | bytes of body · the same, `-` for none                             |
//! | `%D` · `%T` · `%{ms,us,s}T`        | time taken in µs · in s · in the unit                              |
//! | `%f` · `%H` · `%m` · `%r`          | file · protocol · method · request line                            |
//! | `%{X}i` · `%{X}o` · `%{X}C`        | a header of the request · of the response · a cookie               |
//! | `%R`                               | the handler                                                        |
//! | `%{X}^ti` · `%{X}^to`              | `-`: trailers are not stored                                       |
//! | `%{X}e` · `%{X}n` · `%u`           | a variable of the worker's environment, the configuration or the cache · a note of the worker · the user |
//! | `%I` · `%O` · `%S`                 | all bytes received · sent · both, including TLS; for HTTP/2 only the stream's HEADERS, CONTINUATION and DATA |
//! | `%k` · `%l` · `%L`                 | earlier requests of the connection · `-` · the request's ID, also in its lines of the error log |
//! | `%p` · `%{canonical,local,remote}p`| ports                                                              |
//! | `%P` · `%{pid}P`                   | process ID of the worker, or of the front                          |
//! | `%q` · `%U` · `%s` (`%>s`, `%<s`)  | query with its `?` · path · status                                 |
//! | `%t` · `%{format}t`                | time of arrival in Apache's format · strftime, `sec`, `msec`, `usec`, `msec_frac`, `usec_frac`; `begin:` or `end:` may precede |
//! | `%v` · `%V`                        | ServerName · the requested host                                    |
//! | `%X`                               | the connection: `X` aborted · `+` kept open · `-` closed           |
//! | `%{cameleer:queue_us}x`            | wait for a worker in µs                                            |
//! | `%{cameleer:cpu_us}x`              | CPU time of the worker in µs                                       |
//! | `%{cameleer:worker}x`              | the worker's place in the pool                                     |
//! | `%{trace_id}x`                     | the ID of the request's trace: see `TraceContext`                  |
//! | `%{cameleer:json}x`                | all fields as a JSON object: see docs/operating/logs.md            |

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
    Cookie(String),
    Handler,
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
    /// The item for `%{argument}letter`; errors quote it as `written`.
    pub fn named(letter: char, argument: &str, written: &str) -> Result<LogItem, String> {
        let unknown = || {
            Err(format!("unknown log item {written}: httpd's mod_log_config and docs/operating/logs.md list the items"))
        };
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
            'C' => LogItem::Cookie(argument.to_owned()),
            'R' => LogItem::Handler,
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
