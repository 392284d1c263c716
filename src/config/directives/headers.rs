//! Headers of requests and answers.

use super::super::rules::{compress, expires, headers, inflate};
use super::{ANYWHERE, Class, Effect, MANY, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "Header",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words(
            "[always] set|append|merge|add|unset|echo|edit name [value] [early|env=[!]name]",
            2..=6,
            headers::header,
        ),
        default: None,
        because: "answers have the headers that they need",
        effect: Effect::Reload,
        about: "Changes a header of answers; with `always` of errors, too. `%t` is when the request came, `%D` how long it took, `%{name}e` a variable, `%{SSL_name}s` one of mod_ssl's.",
    },
    Row {
        name: "RequestHeader",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words(
            "set|append|merge|add|unset|edit name [value] [early|env=[!]name]",
            2..=5,
            headers::request_header,
        ),
        default: None,
        because: "programs see what the client sent",
        effect: Effect::Reload,
        about: "Changes a header of requests before a program sees it.",
    },
    Row {
        name: "ExpiresActive",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Flag(|d, on| d.said().rules.expires.active = Some(on)),
        default: None,
        because: "only the site knows how long its pages stay fresh",
        effect: Effect::Reload,
        about: "Whether Expires and Cache-Control are sent, for answers that have no Expires of their own.",
    },
    Row {
        name: "ExpiresByType",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("type time", 2..=2, expires::by_type),
        default: None,
        because: "see ExpiresDefault",
        effect: Effect::Reload,
        about: "How long answers of a MIME type, or of a family like `image/*`, stay fresh.",
    },
    Row {
        name: "ExpiresDefault",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Word("time", expires::default),
        default: None,
        because: "see ExpiresActive",
        effect: Effect::Reload,
        about: "How long other answers stay fresh: `A3600` or `access plus 1 hour` from now on, `M3600` or `modification plus 1 hour` from the file's last change.",
    },
    Row {
        name: "SetOutputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", |d, names| {
            compress::set_filter(d, names);
            Ok(())
        }),
        default: None,
        because: "see AddOutputFilterByType",
        effect: Effect::Reload,
        about: "DEFLATE compresses all answers for clients that take gzip. Other filters are passed over with a warning.",
    },
    Row {
        name: "AddOutputFilterByType",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] type…", 2..=MANY, |d, args| {
            compress::by_type(d, args);
            Ok(())
        }),
        default: None,
        because: "compressing costs time, and a proxy in front may do it",
        effect: Effect::Reload,
        about: "DEFLATE compresses answers of these MIME types for clients that take gzip; the variable no-gzip prevents it. Other filters are \
            passed over with a warning.",
    },
    Row {
        name: "AddOutputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] extension…", 2..=MANY, |d, args| {
            compress::by_extension(d, args);
            Ok(())
        }),
        default: None,
        because: "see AddOutputFilterByType",
        effect: Effect::Reload,
        about: "As SetOutputFilter, for files with these extensions.",
    },
    Row {
        name: "RemoveOutputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            compress::remove_filter(d, args);
            Ok(())
        }),
        default: None,
        because: "see AddOutputFilter",
        effect: Effect::Reload,
        about: "Takes back an AddOutputFilter of an outer section.",
    },
    Row {
        name: "SetInputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", |d, names| {
            inflate::set_filter(d, names);
            Ok(())
        }),
        default: None,
        because: "programs read what clients send",
        effect: Effect::Reload,
        about: "DEFLATE unpacks bodies of requests that were sent as gzip (`Content-Encoding`), before a program reads them: it sees what \
            was packed, its length, and no Content-Encoding. What is no gzip is answered 400. Other filters are passed over with a warning.",
    },
    Row {
        name: "AddInputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] extension…", 2..=MANY, |d, args| {
            inflate::by_extension(d, args);
            Ok(())
        }),
        default: None,
        because: "see SetInputFilter",
        effect: Effect::Reload,
        about: "As SetInputFilter, for what is sent to files with these extensions.",
    },
    Row {
        name: "RemoveInputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            inflate::remove_filter(d, args);
            Ok(())
        }),
        default: None,
        because: "see AddInputFilter",
        effect: Effect::Reload,
        about: "Takes back an AddInputFilter of an outer section.",
    },
    Row {
        name: "DeflateInflateLimitRequestBody",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Size(|d, size| d.said().rules.inflate.limit = Some(size)),
        default: Some("0"),
        because: "what is unpacked takes as much room as what is sent plainly",
        effect: Effect::Reload,
        about: "Bytes of a request's body when it is unpacked; 0 is as LimitRequestBody says, which what is sent must fit in any case. A \
            longer one is answered 413.",
    },
    Row {
        name: "DeflateInflateRatioLimit",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Number(1..=i32::MAX as u64, |d, n| d.said().rules.inflate.ratio = Some(n)),
        default: Some("200"),
        because: "httpd's; text becomes a tenth, nothing but zeros a thousandth",
        effect: Effect::Reload,
        about: "How many times as long as it was sent a request's body may become when it is unpacked. More is answered 413.",
    },
    Row {
        name: "DeflateInflateRatioBurst",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Number(1..=i32::MAX as u64, |d, n| d.said().rules.inflate.burst = Some(n)),
        default: Some("3"),
        because: "httpd's; a short body may well be all alike",
        effect: Effect::Reload,
        about: "How many buffers of 8096 bytes in a row may be over DeflateInflateRatioLimit before the body is refused.",
    },
    Row {
        name: "DeflateCompressionLevel",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(1..=9, |d, n| d.said().rules.compress.level = Some(n as u32)),
        default: None,
        because: "6, zlib's own: more costs much and saves little",
        effect: Effect::Reload,
        about: "How hard to compress: 1 is fast, 9 is small.",
    },
];
