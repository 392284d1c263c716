//! Headers about a negotiation, and the list of variants for a 300 or 406 (RFC 2295; httpd's format).

use std::fmt::Write;

use http::StatusCode;
use http::header::{CONTENT_LOCATION, HeaderName, HeaderValue, VARY};
use percent_encoding::{AsciiSet, percent_encode};

use super::quality::PROGRAM;
use super::variant::Variant;
use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use base::path::NOT_IN_URL;
use base::printable;

/// Characters escaped in a segment of a path, as in httpd.
const SEGMENT: &AsciiSet = &NOT_IN_URL.add(b'#').add(b'%').add(b'/').add(b';').add(b'?');

const TCN: HeaderName = HeaderName::from_static("tcn");
const ALTERNATES: HeaderName = HeaderName::from_static("alternates");

/// Headers of a response that describe the negotiation.
pub struct NegotiationHeaders<'a> {
    pub variants: &'a [Variant],
    /// Whether the client may know the variants: their names are neighbours of the path (RFC 2295).
    pub is_transparent: bool,
    /// Whether the client gets their list.
    pub sends_alternates: bool,
}

impl NegotiationHeaders<'_> {
    /// Adds the headers of a response with `chosen`, or of a list of variants.
    pub fn tell(&self, context: &RequestContext, chosen: Option<&Variant>) {
        let add = |name: HeaderName, value: String| {
            if let Ok(value) = HeaderValue::from_str(&value) {
                context.add_field(name, value);
            }
        };
        if let Some(variant) = chosen.filter(|_| self.is_transparent) {
            add(CONTENT_LOCATION, escaped(&variant.name));
        }
        if self.sends_alternates && !self.variants.is_empty() {
            let all: Vec<String> = self.variants.iter().map(alternate).collect();
            add(ALTERNATES, all.join(", "));
        }
        let vary = self.vary();
        if !vary.is_empty() {
            add(VARY, vary.join(","));
        }
        if self.is_transparent {
            add(TCN, if chosen.is_some() { "choice" } else { "list" }.to_owned());
        }
    }

    /// The dimensions in which the variants differ.
    fn vary(&self) -> Vec<&'static str> {
        let first = self.variants.first();
        let differ = |of: fn(&Variant) -> String| {
            let first = first.map(of);
            self.variants.iter().any(|variant| Some(of(variant)) != first)
        };
        let dimensions = [
            (self.is_transparent, "negotiate"),
            (differ(|variant| variant.mime.clone()), "accept"),
            (differ(Variant::language_list), "accept-language"),
            (differ(|variant| variant.charset.clone()), "accept-charset"),
            (differ(|variant| variant.encoding.clone()), "accept-encoding"),
        ];
        dimensions.into_iter().filter(|(varies, _)| *varies).map(|(_, name)| name).collect()
    }

    /// The refusal with the list of variants.
    pub fn list(&self, status: StatusCode) -> Refusal {
        let mut list = "Available variants:\n<ul>\n".to_owned();
        for variant in self.variants {
            let name = html(&variant.name);
            let _ = write!(list, "<li><a href=\"{name}\">{name}</a> {}", html(&variant.description));
            for (label, text) in [
                ("type", &variant.mime),
                ("language", &variant.language_list()),
                ("charset", &variant.charset),
                ("encoding", &variant.encoding),
            ] {
                if !text.is_empty() {
                    let _ = write!(list, ", {label} {}", html(text));
                }
            }
            list.push_str("</li>\n");
        }
        list.push_str("</ul>\n");
        Refusal::new(status).listing(list)
    }
}

/// The variant's entry in `Alternates`.
fn alternate(variant: &Variant) -> String {
    let mut entry = format!("{{\"{}\" {}", escaped(&variant.name), short(variant.source_quality));
    // The length of a program is not that of its output.
    let is_program = variant.mime == PROGRAM || variant.route.as_ref().is_some_and(|route| !route.is_static());
    let length = variant.length.filter(|_| !is_program).map(|length| length.to_string()).unwrap_or_default();
    for (label, text) in [
        ("type", &variant.mime),
        ("charset", &variant.charset),
        ("language", &variant.language_list()),
        ("encoding", &variant.encoding),
        ("length", &length),
    ] {
        if !text.is_empty() {
            let _ = write!(entry, " {{{label} {text}}}");
        }
    }
    entry + "}"
}

/// A quality with up to three digits behind the point.
fn short(quality: f32) -> String {
    let digits = format!("{quality:.3}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(name: &str) -> String {
    percent_encode(name.as_bytes(), SEGMENT).to_string()
}

fn html(text: &str) -> String {
    let text = printable::lines(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
