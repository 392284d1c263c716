//! How strictly clients are taken at their word.

use crate::config::draft::Draft;
use crate::config::table::row::{HOSTS, MANY, ROW, Row, SERVER, Takes};
use crate::path::EncodedSlashes;

pub static ROWS: &[Row] = &[
    Row {
        name: "HttpProtocolOptions",
        contexts: HOSTS,
        takes: Takes::Words(
            "[Strict|Unsafe] [RegisteredMethods|LenientMethods] [Allow0.9|Require1.0]",
            1..=3,
            http_protocol_options,
        ),
        because: "Strict LenientMethods Require1.0: programs may know methods that we do not",
        about: "Without it a target may have what httpd takes by default: any byte above 0x20 but 0x7f and `#`. Strict, written out: `<`, `>`, a \
            backtick in the path, a quotation mark in the query and bytes that are no UTF-8 are answered 400, `\\` and %5C in the path \
            404. RegisteredMethods: methods that are neither httpd's nor named by RegisterHttpMethod are answered 501. Requests are read strictly \
            in any case; Unsafe and Allow0.9 are accepted with a warning and do not loosen that.",
        ..ROW
    },
    Row {
        name: "RegisterHttpMethod",
        contexts: SERVER,
        takes: Takes::Words("method…", 1..=MANY, |d, methods| {
            register_methods(d, methods);
            Ok(())
        }),
        because: "see HttpProtocolOptions",
        about: "Further methods that HttpProtocolOptions RegisteredMethods lets pass.",
        ..ROW
    },
    Row {
        name: "StrictHostCheck",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().strictness.known_hosts = Some(on)),
        because: "Off, as in httpd: the first host of an address answers for other names",
        about: "On: a request for a name that no ServerName or ServerAlias of its address has is answered 400. What the first virtual host of \
            the address says counts, else the main server.",
        ..ROW
    },
    Row {
        name: "MergeSlashes",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().strictness.merge_slashes = Some(on)),
        because: "On: a path means one place, however many slashes it is written with",
        about: "Off: <Location> and <LocationMatch> see the path with its repeated slashes, too; files and what holds for the path without them \
            stay the same. In any case `$r->uri` and PATH_INFO have them as they were sent.",
        ..ROW
    },
    Row {
        name: "AllowEncodedSlashes",
        contexts: HOSTS,
        takes: Takes::Word("On|Off|NoDecode", allow_encoded_slashes),
        because: "Off, as in httpd: a path with %2F in it is answered 404; but On where a PSGI application answers, as in every PSGI server",
        about: "On: %2F in a path is a slash as any other. NoDecode: it stays %2F, for programs that find it in PATH_INFO or `$r->uri`; nothing \
            else of the path stays encoded. Answers to such paths are not cached.",
        ..ROW
    },
    Row {
        name: "SSLStrictSNIVHostCheck",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().strictness.named_by_tls = Some(on)),
        because: "Off, as in httpd: old clients do not name the host",
        about: "On: who speaks TLS without naming the host is answered 403; in the first virtual host of an address for all of that address.",
        ..ROW
    },
    Row {
        name: "TraceEnable",
        contexts: HOSTS,
        takes: Takes::Word("Off|On|extended", trace_enable),
        because: "TRACE shows what proxies and browsers hide",
        about: "TRACE is answered 405 in any case; there is a warning where it is turned on.",
        ..ROW
    },
];

/// `HttpProtocolOptions [Strict|Unsafe] [RegisteredMethods|LenientMethods] [Allow0.9|Require1.0]`
fn http_protocol_options(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    for word in words {
        match word.to_ascii_lowercase().as_str() {
            "require1.0" => {}
            "strict" => draft.host().strictness.plain_targets = Some(true),
            "unsafe" => {
                draft.host().strictness.plain_targets = Some(false);
                draft.warn("Unsafe is not done: what HTTP does not allow is refused in any case");
            }
            "allow0.9" => draft.warn("Allow0.9 is not done: HTTP/0.9 is refused in any case"),
            "registeredmethods" => draft.host().strictness.registered_methods = Some(true),
            "lenientmethods" => draft.host().strictness.registered_methods = Some(false),
            _ => {
                return Err(format!(
                    "expected Strict, Unsafe, RegisteredMethods, LenientMethods, Allow0.9 or Require1.0, got \"{word}\""
                ));
            }
        }
    }
    Ok(())
}

/// `RegisterHttpMethod method…`
fn register_methods(draft: &mut Draft, methods: &[String]) {
    draft.config.methods.extend_from_slice(methods);
}

/// `AllowEncodedSlashes On|Off|NoDecode`
fn allow_encoded_slashes(draft: &mut Draft, word: &str) -> Result<(), String> {
    let said = match word.to_ascii_lowercase().as_str() {
        "off" => EncodedSlashes::Refused,
        "on" => EncodedSlashes::Decoded,
        "nodecode" => EncodedSlashes::Kept,
        _ => return Err(format!("expected On, Off or NoDecode, got \"{word}\"")),
    };
    draft.host().strictness.encoded_slashes = Some(said);
    Ok(())
}

/// `TraceEnable on|off|extended`
fn trace_enable(draft: &mut Draft, word: &str) -> Result<(), String> {
    match word.to_ascii_lowercase().as_str() {
        "off" => Ok(()),
        "on" | "extended" => {
            draft.warn("TRACE is refused in any case: it shows what proxies and browsers hide");
            Ok(())
        }
        _ => Err(format!("expected On, Off or extended, got \"{word}\"")),
    }
}
