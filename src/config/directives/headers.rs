//! Headers of requests and answers.

use super::super::rules::{compress, expires, headers};
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
            compress::input_filter(d, names);
            Ok(())
        }),
        default: None,
        because: "programs read what clients send",
        effect: Effect::Reload,
        about: "Accepted with a warning: bodies of requests reach programs as they were sent.",
    },
    Row {
        name: "AddInputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] extension…", 2..=MANY, |d, args| {
            args.first().into_iter().for_each(|names| compress::input_filter(d, names));
            Ok(())
        }),
        default: None,
        because: "see SetInputFilter",
        effect: Effect::Reload,
        about: "Accepted with a warning: bodies of requests reach programs as they were sent.",
    },
    Row {
        name: "RemoveInputFilter",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |_, _| Ok(())),
        default: None,
        because: "see SetInputFilter",
        effect: Effect::Reload,
        about: "Accepted: there is nothing to take back.",
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
