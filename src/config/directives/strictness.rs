//! How strictly clients are taken at their word.

use super::super::strictness;
use super::{Effect, HOSTS, MANY, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "HttpProtocolOptions",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words(
            "[Strict|Unsafe] [RegisteredMethods|LenientMethods] [Allow0.9|Require1.0]",
            1..=3,
            strictness::http_protocol_options,
        ),
        default: None,
        because: "Strict LenientMethods Require1.0: programs may know methods that we do not",
        effect: Effect::Reload,
        about: "RegisteredMethods: methods that are neither httpd's nor named by RegisterHttpMethod are answered 501. Requests are read strictly \
            in any case; Unsafe and Allow0.9 are accepted with a warning and do not loosen that.",
    },
    Row {
        name: "RegisterHttpMethod",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("method…", 1..=MANY, |d, methods| {
            strictness::register_methods(d, methods);
            Ok(())
        }),
        default: None,
        because: "see HttpProtocolOptions",
        effect: Effect::Reload,
        about: "Further methods that HttpProtocolOptions RegisteredMethods lets pass.",
    },
    Row {
        name: "StrictHostCheck",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().strictness.known_hosts = Some(on)),
        default: None,
        because: "Off, as in httpd: the first host of an address answers for other names",
        effect: Effect::Reload,
        about: "On: a request for a name that no ServerName or ServerAlias of its address has is answered 400. What the first virtual host of \
            the address says counts, else the main server.",
    },
    Row {
        name: "MergeSlashes",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().strictness.merge_slashes = Some(on)),
        default: None,
        because: "On: a path means one place, however many slashes it is written with",
        effect: Effect::Reload,
        about: "Off: <Location> and <LocationMatch> see the path with its repeated slashes, too; files and what holds for the path without them \
            stay the same. In any case `$r->uri` and PATH_INFO have them as they were sent.",
    },
    Row {
        name: "SSLStrictSNIVHostCheck",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().strictness.named_by_tls = Some(on)),
        default: None,
        because: "Off, as in httpd: old clients do not name the host",
        effect: Effect::Reload,
        about: "On: who speaks TLS without naming the host is answered 403; in the first virtual host of an address for all of that address.",
    },
    Row {
        name: "TraceEnable",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("Off|On|extended", strictness::trace_enable),
        default: None,
        because: "TRACE shows what proxies and browsers hide",
        effect: Effect::Reload,
        about: "TRACE is answered 405 in any case; there is a warning where it is turned on.",
    },
];
