//! Limits and timeouts of requests.

use crate::model::response::ranges::RangeBound;
use crate::table::row::{ANY, ANYWHERE, HOSTS, Row, SERVER, duration, flag, number, rows, size, word};

pub static ROWS: &[Row] = rows![
    "core.c",
    duration("Timeout", HOSTS, |d, time| match d.position.host {
        0 => d.config.timeouts.client = time,
        _ => d.host().timeout = Some(time),
    })
    .default("60s", "httpd's default"),
    "Maximum wait for the client: for the next bytes of a request, or until it accepts some of the response; and for a \
     backend without ProxyTimeout. In a virtual host it holds from the end of a request's head on, because the head \
     names the host. RequestReadTimeout limits a whole request.",
    flag("KeepAlive", HOSTS, |d, on| d.host().keep_alive.on = Some(on))
        .default("On", "a new connection costs client and server a round trip"),
    "Whether a connection may carry several requests. After each request, the setting of its virtual host applies.",
    duration("KeepAliveTimeout", HOSTS, |d, time| d.host().keep_alive.within = Some(time))
        .default("5s", "httpd's default; browsers open a new connection later"),
    "Time after which an idle connection is closed, after a request to this host.",
    number("MaxKeepAliveRequests", HOSTS, 0..=u32::MAX as u64, |d, n| d.host().keep_alive.most = Some(n as u32))
        .default("0", "httpd's 100 frees a process for other clients; here an idle connection occupies none"),
    "Maximum number of requests of one connection, which is then closed; 0 is unlimited.",
    number("LimitRequestLine", SERVER, 64..=1_048_576, |d, n| d.config.limits.request_line = n as usize)
        .default("8190", "httpd's default; proxies send no more"),
    "Maximum length of the request line in bytes. A longer one is answered 414. For the whole head see \
     LimitRequestFields.",
    number("LimitRequestFields", SERVER, 1..=32767, |d, n| d.config.limits.fields = n as usize)
        .default("100", "httpd's default; browsers send twenty"),
    "Maximum number of header fields of a request. More are answered 431. The whole head may have LimitRequestLine \
     bytes plus 16 times LimitRequestFieldSize (or LimitRequestFields times, if that is fewer), but at least 16384 and \
     at most 1048576 bytes; a longer head is answered 431, too.",
    number("LimitRequestFieldSize", SERVER, 64..=1_048_576, |d, n| d.config.limits.field_size = n as usize)
        .default("8190", "httpd's default; cookies stay below 4096"),
    "Maximum length of one header field in bytes. A longer one is answered 431. For the whole head see \
     LimitRequestFields.",
    size("LimitRequestBody", ANY, |d, size| d.settings().limit_request_body = Some(size))
        .default("1G", "httpd's default since 2.4.54; bodies are buffered, so a limit protects the disk"),
    "Maximum length of a request body in bytes; 0 is unlimited. A longer body is answered 413, also for static files, \
     which ignore bodies.",
    word("MaxRanges", ANYWHERE, "default|unlimited|none|number", |d, word| {
        d.settings().response.ranges.set(RangeBound::Most, word)
    })
    .default("200", "httpd's default; download managers request a few"),
    "Maximum number of byte ranges of one request. With more, or with ranges that are together longer than the file, \
     the whole file is sent. `none` always sends the whole file, with `Accept-Ranges: none`.",
    word("MaxRangeOverlaps", ANYWHERE, "default|unlimited|none|number", |d, word| {
        d.settings().response.ranges.set(RangeBound::Overlaps, word)
    })
    .default("20", "httpd's default"),
    "Maximum number of ranges that overlap the preceding range. With more, the whole file is sent.",
    word("MaxRangeReversals", ANYWHERE, "default|unlimited|none|number", |d, word| {
        d.settings().response.ranges.set(RangeBound::Reversals, word)
    })
    .default("20", "httpd's default"),
    "Maximum number of ranges that begin before the preceding range. With more, the whole file is sent.",
];
