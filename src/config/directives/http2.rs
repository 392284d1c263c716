//! Which protocols are spoken, and what an HTTP/2 client may do.

use super::super::protocols::protocols;
use super::{Effect, HOSTS, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "Protocols",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("h2|h2c|http/1.1…", 1..=super::MANY, protocols),
        default: Some("http/1.1"),
        because: "httpd's; HTTP/2 is for sites that want it",
        effect: Effect::Reload,
        about: "What is spoken on the connections of a host: `h2` over TLS, `h2c` without (by clients that know it), `http/1.1`. What is \
            spoken without TLS says the first host of an address. Where http/1.1 is not named, it is not spoken.",
    },
    Row {
        name: "ProtocolsHonorOrder",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().protocols.own_order = Some(on)),
        default: Some("On"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "Whether the order of Protocols counts and not the client's. The client's is never asked for: Off changes nothing.",
    },
    Row {
        name: "H2MaxSessionStreams",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Number(1..=100_000, |d, n| d.config.http2.streams = n as u32),
        default: Some("100"),
        because: "httpd's, and what RFC 9113 advises at least",
        effect: Effect::Reload,
        about: "Requests that one connection may have under way; more are refused, and clients try them again.",
    },
    Row {
        name: "H2WindowSize",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Number(65_535..=2_147_483_647, |d, n| d.config.http2.window = n as u32),
        default: Some("65535"),
        because: "httpd's; bodies are taken as they come, so more is only memory",
        effect: Effect::Reload,
        about: "Bytes of a request's body that may come before they are asked for.",
    },
    Row {
        name: "H2StreamTimeout",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Duration(|d, time| d.config.http2.stream_timeout = Some(time)),
        default: None,
        because: "Timeout says it",
        effect: Effect::Reload,
        about: "How long a stream may stand still because its client takes nothing: then it is reset.",
    },
    Row {
        name: "H2MaxStreamErrors",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Number(0..=100_000, |d, n| d.config.http2.stream_errors = n as usize),
        default: Some("64"),
        because: "browsers make none; httpd's 8 is few for a connection that lives for days",
        effect: Effect::Reload,
        about: "Streams that had to be reset for mistakes of the client, after which its connection is closed.",
    },
    Row {
        name: "H2MaxResetsPerSecond",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=1_000_000, |d, n| d.config.http2.resets = n as u32),
        default: Some("200"),
        because: "who leaves a page cancels what it shows, a hundred at once; an attack cancels thousands",
        effect: Effect::Reload,
        about: "Requests that a client may take back in a second, with those that it makes us reset by its mistakes. Then its connection is \
            closed (ENHANCE_YOUR_CALM).",
    },
    Row {
        name: "H2MaxControlFramesPerSecond",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(10..=1_000_000, |d, n| d.config.http2.control_frames = n as u32),
        default: Some("500"),
        because: "clients send a few; each is answered, so a flood costs us as much as its sender",
        effect: Effect::Reload,
        about: "PING, SETTINGS, PRIORITY, unknown and empty frames, and WINDOW_UPDATEs that give nothing back, that a client may send in a \
            second. Then its connection is closed (ENHANCE_YOUR_CALM). A WINDOW_UPDATE gives something back when DATA was sent: one of \
            the stream and one of the connection for each, and one for a stream that begins. Those of less than 64 bytes are for small \
            answers, two each, and for what DATA of 1 kB and more leaves.",
    },
];
