//! What a client may do, and for how long.

use crate::config::model::overrides::Class;
use crate::config::model::response::ranges::Bound;
use crate::config::table::row::{ANYWHERE, HOSTS, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "Timeout",
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.client = time),
        default: Some("60s"),
        because: "httpd's",
        about: "The longest wait for the client: for the next bytes of a request, or until it accepts some of the answer. RequestReadTimeout \
            limits a request as a whole.",
        ..ROW
    },
    Row {
        name: "KeepAlive",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().keep_alive.on = Some(on)),
        default: Some("On"),
        because: "a new connection costs client and server a round trip",
        about: "Whether a connection may carry several requests. A virtual host's counts after each request to it.",
        ..ROW
    },
    Row {
        name: "KeepAliveTimeout",
        contexts: HOSTS,
        takes: Takes::Duration(|d, time| d.host().keep_alive.within = Some(time)),
        default: Some("5s"),
        because: "httpd's; browsers open a new one when they come later",
        about: "How long an idle connection is kept, after a request to this host.",
        ..ROW
    },
    Row {
        name: "MaxKeepAliveRequests",
        contexts: HOSTS,
        takes: Takes::Number(0..=u32::MAX as u64, |d, n| d.host().keep_alive.most = Some(n as u32)),
        default: Some("0"),
        because: "httpd's 100 frees a process for others; here a connection holds none",
        about: "Requests of one connection, after which it is closed; 0 is any number.",
        ..ROW
    },
    Row {
        name: "LimitRequestLine",
        contexts: SERVER,
        takes: Takes::Number(64..=1_048_576, |d, n| d.config.limits.request_line = n as usize),
        default: Some("8190"),
        because: "httpd's; proxies send no more",
        about: "Bytes of the request line. A longer one is answered 414. For the head as a whole see LimitRequestFields.",
        ..ROW
    },
    Row {
        name: "LimitRequestFields",
        contexts: SERVER,
        takes: Takes::Number(1..=32767, |d, n| d.config.limits.fields = n as usize),
        default: Some("100"),
        because: "httpd's; browsers send twenty",
        about: "Header fields of a request. More are answered 431. All of a head may have as many bytes as LimitRequestLine and 16 times \
            LimitRequestFieldSize (or LimitRequestFields times, where that is fewer), never less than 16384 and never more than \
            1048576; a longer one is a 431, too.",
        ..ROW
    },
    Row {
        name: "LimitRequestFieldSize",
        contexts: SERVER,
        takes: Takes::Number(64..=1_048_576, |d, n| d.config.limits.field_size = n as usize),
        default: Some("8190"),
        because: "httpd's; cookies stay below 4096",
        about: "Bytes of one header field. A longer one is answered 431. For the head as a whole see LimitRequestFields.",
        ..ROW
    },
    Row {
        name: "LimitRequestBody",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Size(|d, size| d.said().limit_request_body = Some(size)),
        default: Some("1G"),
        because: "httpd's since 2.4.54; bodies are buffered, so a limit protects the disk",
        about: "Bytes of a request body; 0 is unlimited. A longer one is answered 413, also where files are, which take none.",
        ..ROW
    },
    Row {
        name: "MaxRanges",
        contexts: ANYWHERE,
        takes: Takes::Word("default|unlimited|none|number", |d, word| d.said().response.ranges.set(Bound::Most, word)),
        default: Some("200"),
        because: "httpd's; a download manager asks for a few",
        about: "Parts of a file that one request may ask for. To more than that the answer is all of the file, as it is to parts that are \
            together longer than the file. With none every request gets all of it, and is told so (`Accept-Ranges: none`).",
        ..ROW
    },
    Row {
        name: "MaxRangeOverlaps",
        contexts: ANYWHERE,
        takes: Takes::Word("default|unlimited|none|number", |d, word| {
            d.said().response.ranges.set(Bound::Overlaps, word)
        }),
        default: Some("20"),
        because: "httpd's",
        about: "Parts that may have bytes of the part before. To more of them the answer is all of the file.",
        ..ROW
    },
    Row {
        name: "MaxRangeReversals",
        contexts: ANYWHERE,
        takes: Takes::Word("default|unlimited|none|number", |d, word| {
            d.said().response.ranges.set(Bound::Reversals, word)
        }),
        default: Some("20"),
        because: "httpd's",
        about: "Parts that may begin before the part before them. To more of them the answer is all of the file.",
        ..ROW
    },
];
