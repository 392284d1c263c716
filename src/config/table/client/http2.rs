//! Which protocols are spoken, and what an HTTP/2 client may do.

use crate::config::draft::Draft;
use crate::config::model::protocols::Protocol;
use crate::config::table::row::{HOSTS, MANY, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "Protocols",
        contexts: HOSTS,
        takes: Takes::Words("h2|h2c|http/1.1…", 1..=MANY, protocols),
        default: Some("http/1.1"),
        because: "httpd's; HTTP/2 is for sites that want it",
        about: "What is spoken on the connections of a host: `h2` over TLS, `h2c` without (by clients that know it), `http/1.1`. What is \
            spoken without TLS says the first host of an address. Where http/1.1 is not named, it is not spoken.",
        ..ROW
    },
    Row {
        name: "ProtocolsHonorOrder",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().protocols.own_order = Some(on)),
        default: Some("On"),
        because: "httpd's",
        about: "Whether the order of Protocols counts and not the client's. The client's is never asked for: Off changes nothing.",
        ..ROW
    },
    Row {
        name: "H2MaxSessionStreams",
        contexts: HOSTS,
        takes: Takes::Number(1..=100_000, |d, n| d.config.http2.streams = n as u32),
        default: Some("100"),
        because: "httpd's, and what RFC 9113 advises at least",
        about: "Requests that one connection may have under way; more are refused, and clients try them again.",
        ..ROW
    },
    Row {
        name: "H2WindowSize",
        contexts: HOSTS,
        takes: Takes::Number(65_535..=2_147_483_647, |d, n| d.config.http2.window = n as u32),
        default: Some("65535"),
        because: "httpd's; bodies are taken as they come, so more is only memory",
        about: "Bytes of a request's body that may come before they are asked for.",
        ..ROW
    },
    Row {
        name: "H2StreamTimeout",
        contexts: HOSTS,
        takes: Takes::Duration(|d, time| d.config.http2.stream_timeout = Some(time)),
        because: "Timeout says it",
        about: "How long a stream may stand still because its client takes nothing: then it is reset.",
        ..ROW
    },
    Row {
        name: "H2MaxStreamErrors",
        contexts: HOSTS,
        takes: Takes::Number(0..=100_000, |d, n| d.config.http2.stream_errors = n as usize),
        default: Some("64"),
        because: "browsers make none; httpd's 8 is few",
        about: "Streams that had to be reset within a minute for mistakes of the client. One more closes its connection, with a line in the \
            error log. What a client sends on a stream that the server has reset within the last ten seconds is no mistake.",
        ..ROW
    },
    Row {
        name: "H2MaxResetsPerSecond",
        contexts: SERVER,
        takes: Takes::Number(1..=1_000_000, |d, n| d.config.http2.resets = n as u32),
        default: Some("200"),
        because: "who leaves a page cancels what it shows, a hundred at once; an attack cancels thousands",
        about: "Requests that a client may take back in a second, with those that it makes us reset by its mistakes. Then its connection is \
            closed (ENHANCE_YOUR_CALM).",
        ..ROW
    },
    Row {
        name: "H2MaxControlFramesPerSecond",
        contexts: SERVER,
        takes: Takes::Number(10..=1_000_000, |d, n| d.config.http2.control_frames = n as u32),
        default: Some("500"),
        because: "clients send a few; each is answered, so a flood costs us as much as its sender",
        about: "PING, SETTINGS, PRIORITY, unknown and empty frames, and WINDOW_UPDATEs that give nothing back, that a client may send in a \
            second. Then its connection is closed (ENHANCE_YOUR_CALM). A WINDOW_UPDATE gives something back when DATA was sent: one of \
            the stream and one of the connection for each, and one for a stream that begins. Those of less than 64 bytes are for small \
            answers, two each, and for what DATA of 1 kB and more leaves.",
        ..ROW
    },
];

/// `Protocols h2 h2c http/1.1`
fn protocols(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let one = |name: &String| match name.to_ascii_lowercase().as_str() {
        "h2" => Ok(Protocol::H2),
        "h2c" => Ok(Protocol::H2c),
        "http/1.1" => Ok(Protocol::Http1),
        _ => Err(format!("expected h2, h2c or http/1.1, got \"{name}\"")),
    };
    let spoken = args.iter().map(one).collect::<Result<_, _>>()?;
    draft.host().protocols.spoken = Some(spoken);
    Ok(())
}
