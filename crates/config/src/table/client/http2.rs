//! Protocols of a host, and limits of HTTP/2 connections.

use crate::draft::Draft;
use crate::model::protocols::Protocol;
use crate::table::row::{HOSTS, MANY, Row, SERVER, duration, flag, number, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_http2.c",
    words("Protocols", HOSTS, "h2|h2c|http/1.1…", 1..=MANY, protocols)
        .of("core.c")
        .default("http/1.1", "httpd's default; sites opt in to HTTP/2"),
    "Protocols of a host: `h2` over TLS, `h2c` without TLS (for clients with prior knowledge), `http/1.1`. Without \
     TLS, the first host of an address decides. Protocols that are not listed are disabled, including http/1.1.",
    flag("ProtocolsHonorOrder", HOSTS, |d, on| d.host().protocols.own_order = Some(on))
        .of("core.c")
        .default("On", "httpd's default"),
    "Whether the server's order of Protocols takes precedence. The client's order is never used: Off has no effect.",
    number("H2MaxSessionStreams", HOSTS, 1..=100_000, |d, n| d.config.http2.streams = n as u32)
        .default("100", "httpd's default, and the minimum that RFC 9113 recommends"),
    "Maximum number of concurrent requests of one connection. Further ones are refused, and clients retry them.",
    number("H2WindowSize", HOSTS, 65_535..=2_147_483_647, |d, n| d.config.http2.window = n as u32)
        .default("65535", "httpd's default; bodies are read as they arrive, so a larger window only costs memory"),
    "Bytes of a request body that a client may send before the server grants more (flow-control window).",
    duration("H2StreamTimeout", HOSTS, |d, time| d.config.http2.stream_timeout = Some(time))
        .because("the value of Timeout"),
    "Time after which a stream is reset when its client accepts no data.",
    flag("H2WebSockets", HOSTS, |d, on| d.config.http2.websockets = on)
        .default("On", "a browser opens them on the connection that it has; httpd's default is Off"),
    "Whether clients of HTTP/2 may open WebSockets, each a stream of their connection (RFC 8441). Off: browsers open a \
     connection of HTTP/1.1 for each.",
    number("H2MaxStreamErrors", HOSTS, 0..=100_000, |d, n| d.config.http2.stream_errors = n as usize)
        .default("64", "browsers cause none; httpd's limit of 8 is low"),
    "Maximum number of streams that are reset within a minute because of client errors. One more closes the \
     connection, with a message in the error log. Frames on a stream that the server reset within the last ten seconds \
     do not count.",
    number("H2MaxResetsPerSecond", SERVER, 1..=1_000_000, |d, n| d.config.http2.resets = n as u32)
        .of("cameleer.c")
        .default("200", "leaving a page cancels up to a hundred requests at once; an attack cancels thousands"),
    "Maximum number of requests that a client may cancel in a second, including those that the server resets because \
     of client errors. Beyond it the connection is closed (ENHANCE_YOUR_CALM).",
    number("H2MaxControlFramesPerSecond", SERVER, 10..=1_000_000, |d, n| d.config.http2.control_frames = n as u32)
        .of("cameleer.c")
        .default("500", "clients send a few; each costs the server as much as its sender"),
    "Maximum number of control frames of a client in a second: PING, SETTINGS, PRIORITY, unknown and empty frames, and \
     excess WINDOW_UPDATEs. Beyond it the connection is closed (ENHANCE_YOUR_CALM). Each DATA frame allows one \
     WINDOW_UPDATE of its stream and one of the connection; a new stream allows one more. WINDOW_UPDATEs of less than \
     64 bytes are allowed for small responses, two each, and for the remainders of DATA of 1 kB and more.",
];

/// `Protocols h2 h2c http/1.1`
fn protocols(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    // Answered for managed domains whether it is there or not.
    let args: Vec<String> = args.iter().filter(|name| !name.eq_ignore_ascii_case("acme-tls/1")).cloned().collect();
    let one = |name: &String| match name.to_ascii_lowercase().as_str() {
        "h2" => Ok(Protocol::H2),
        "h2c" => Ok(Protocol::H2c),
        "http/1.1" => Ok(Protocol::Http1),
        _ => Err(format!("expected h2, h2c or http/1.1, got \"{name}\"")),
    };
    let spoken: Vec<Protocol> = args.iter().map(one).collect::<Result<_, _>>()?;
    if !spoken.is_empty() {
        draft.host().protocols.spoken = Some(spoken);
    }
    Ok(())
}
