//! Limits and timeouts of requests.

use crate::model::overrides::Class;
use crate::model::response::ranges::Bound;
use crate::table::row::{ANYWHERE, HOSTS, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "Timeout",
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.client = time),
        default: Some("60s"),
        because: "httpd's default",
        about: "Maximum wait for the client: for the next bytes of a request, or until it accepts some of the response. RequestReadTimeout \
            limits a whole request.",
        ..ROW
    },
    Row {
        name: "KeepAlive",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().keep_alive.on = Some(on)),
        default: Some("On"),
        because: "a new connection costs client and server a round trip",
        about: "Whether a connection may carry several requests. After each request, the setting of its virtual host applies.",
        ..ROW
    },
    Row {
        name: "KeepAliveTimeout",
        contexts: HOSTS,
        takes: Takes::Duration(|d, time| d.host().keep_alive.within = Some(time)),
        default: Some("5s"),
        because: "httpd's default; browsers open a new connection later",
        about: "Time after which an idle connection is closed, after a request to this host.",
        ..ROW
    },
    Row {
        name: "MaxKeepAliveRequests",
        contexts: HOSTS,
        takes: Takes::Number(0..=u32::MAX as u64, |d, n| d.host().keep_alive.most = Some(n as u32)),
        default: Some("0"),
        because: "httpd's 100 frees a process for other clients; here an idle connection occupies none",
        about: "Maximum number of requests of one connection, which is then closed; 0 is unlimited.",
        ..ROW
    },
    Row {
        name: "LimitRequestLine",
        contexts: SERVER,
        takes: Takes::Number(64..=1_048_576, |d, n| d.config.limits.request_line = n as usize),
        default: Some("8190"),
        because: "httpd's default; proxies send no more",
        about: "Maximum length of the request line in bytes. A longer one is answered 414. For the whole head see LimitRequestFields.",
        ..ROW
    },
    Row {
        name: "LimitRequestFields",
        contexts: SERVER,
        takes: Takes::Number(1..=32767, |d, n| d.config.limits.fields = n as usize),
        default: Some("100"),
        because: "httpd's default; browsers send twenty",
        about: "Maximum number of header fields of a request. More are answered 431. The whole head may have LimitRequestLine bytes plus 16 times \
            LimitRequestFieldSize (or LimitRequestFields times, if that is fewer), but at least 16384 and at most \
            1048576 bytes; a longer head is answered 431, too.",
        ..ROW
    },
    Row {
        name: "LimitRequestFieldSize",
        contexts: SERVER,
        takes: Takes::Number(64..=1_048_576, |d, n| d.config.limits.field_size = n as usize),
        default: Some("8190"),
        because: "httpd's default; cookies stay below 4096",
        about: "Maximum length of one header field in bytes. A longer one is answered 431. For the whole head see LimitRequestFields.",
        ..ROW
    },
    Row {
        name: "LimitRequestBody",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Size(|d, size| d.settings().limit_request_body = Some(size)),
        default: Some("1G"),
        because: "httpd's default since 2.4.54; bodies are buffered, so a limit protects the disk",
        about: "Maximum length of a request body in bytes; 0 is unlimited. A longer body is answered 413, also for static files, which ignore bodies.",
        ..ROW
    },
    Row {
        name: "MaxRanges",
        contexts: ANYWHERE,
        takes: Takes::Word("default|unlimited|none|number", |d, word| {
            d.settings().response.ranges.set(Bound::Most, word)
        }),
        default: Some("200"),
        because: "httpd's default; download managers request a few",
        about: "Maximum number of byte ranges of one request. With more, or with ranges that are \
            together longer than the file, the whole file is sent. `none` always sends the whole file, with `Accept-Ranges: none`.",
        ..ROW
    },
    Row {
        name: "MaxRangeOverlaps",
        contexts: ANYWHERE,
        takes: Takes::Word("default|unlimited|none|number", |d, word| {
            d.settings().response.ranges.set(Bound::Overlaps, word)
        }),
        default: Some("20"),
        because: "httpd's default",
        about: "Maximum number of ranges that overlap the preceding range. With more, the whole file is sent.",
        ..ROW
    },
    Row {
        name: "MaxRangeReversals",
        contexts: ANYWHERE,
        takes: Takes::Word("default|unlimited|none|number", |d, word| {
            d.settings().response.ranges.set(Bound::Reversals, word)
        }),
        default: Some("20"),
        because: "httpd's default",
        about: "Maximum number of ranges that begin before the preceding range. With more, the whole file is sent.",
        ..ROW
    },
];
