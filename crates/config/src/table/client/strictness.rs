//! How strictly requests are checked: methods, targets, host names, slashes.

use crate::draft::Draft;
use crate::table::row::{HOSTS, MANY, Row, SERVER, flag, rows, word, words};
use base::path::EncodedSlashes;

pub static ROWS: &[Row] = rows![
    "core.c",
    words(
        "HttpProtocolOptions",
        HOSTS,
        "[Strict|Unsafe] [RegisteredMethods|LenientMethods] [Allow0.9|Require1.0]",
        1..=3,
        http_protocol_options
    )
    .because("Strict LenientMethods Require1.0: programs may support methods that the server does not know"),
    "By default a request target may contain what httpd accepts: any byte above 0x20 except 0x7f and `#`. With an \
     explicit Strict, `<`, `>`, a backtick in the path, a quotation mark in the query and invalid UTF-8 are answered \
     400; `\\` and %5C in the path are answered 404. RegisteredMethods: methods known neither to httpd nor by \
     RegisterHttpMethod are answered 501. HTTP itself is always parsed strictly; Unsafe and Allow0.9 are accepted with \
     a warning and do not change that.",
    words("RegisterHttpMethod", SERVER, "method…", 1..=MANY, register_methods).because("see HttpProtocolOptions"),
    "Further methods for HttpProtocolOptions RegisteredMethods.",
    flag("StrictHostCheck", HOSTS, |d, on| d.host().strictness.known_hosts = Some(on))
        .because("Off, as in httpd: the first host of an address answers for other names"),
    "On: a request for a host name that is no ServerName or ServerAlias of its address is answered 400. The setting of \
     the first virtual host of the address counts, otherwise the main server's.",
    flag("MergeSlashes", HOSTS, |d, on| d.host().strictness.merge_slashes = Some(on))
        .because("On: a path means one place, whatever its number of slashes"),
    "Off: <Location> and <LocationMatch> also see the path with its repeated slashes; files and sections that match \
     the path without them stay the same. `$r->uri` and PATH_INFO always have the slashes as sent.",
    word("AllowEncodedSlashes", HOSTS, "On|Off|NoDecode", allow_encoded_slashes).because(
        "Off, as in httpd: a path with %2F in it is answered 404; but On where a PSGI application answers, as in \
             every PSGI server"
    ),
    "On: %2F in a path is decoded to a slash. NoDecode: it stays %2F in PATH_INFO and `$r->uri`; the rest of the path \
     is decoded. Responses to such paths are not cached.",
    flag("SSLStrictSNIVHostCheck", HOSTS, |d, on| d.host().strictness.named_by_tls = Some(on))
        .of("mod_ssl.c")
        .because("Off, as in httpd: old clients do not name the host"),
    "On: a TLS client that does not name the host (SNI) is answered 403. In the first virtual host of an address it \
     applies to the whole address.",
    word("TraceEnable", HOSTS, "Off|On|extended", trace_enable)
        .because("TRACE reveals headers that proxies and browsers hide"),
    "TRACE is always answered 405; On and extended cause a warning.",
];

/// `HttpProtocolOptions [Strict|Unsafe] [RegisteredMethods|LenientMethods] [Allow0.9|Require1.0]`
fn http_protocol_options(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    for word in words {
        match word.to_ascii_lowercase().as_str() {
            "require1.0" => {}
            "strict" => draft.host().strictness.plain_targets = Some(true),
            "unsafe" => {
                draft.host().strictness.plain_targets = Some(false);
                draft.warn("Unsafe has no effect: requests that violate HTTP are always refused");
            }
            "allow0.9" => draft.warn("Allow0.9 has no effect: HTTP/0.9 is always refused"),
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
fn register_methods(draft: &mut Draft, methods: &[String]) -> Result<(), String> {
    draft.config.methods.extend_from_slice(methods);
    Ok(())
}

/// `AllowEncodedSlashes On|Off|NoDecode`
fn allow_encoded_slashes(draft: &mut Draft, word: &str) -> Result<(), String> {
    let slashes = match word.to_ascii_lowercase().as_str() {
        "off" => EncodedSlashes::Refused,
        "on" => EncodedSlashes::Decoded,
        "nodecode" => EncodedSlashes::Kept,
        _ => return Err(format!("expected On, Off or NoDecode, got \"{word}\"")),
    };
    draft.host().strictness.encoded_slashes = Some(slashes);
    Ok(())
}

/// `TraceEnable on|off|extended`
fn trace_enable(draft: &mut Draft, word: &str) -> Result<(), String> {
    match word.to_ascii_lowercase().as_str() {
        "off" => Ok(()),
        "on" | "extended" => {
            draft.warn(
                "has no effect: TRACE is always refused, because it reveals headers that proxies and browsers hide",
            );
            Ok(())
        }
        _ => Err(format!("expected On, Off or extended, got \"{word}\"")),
    }
}
