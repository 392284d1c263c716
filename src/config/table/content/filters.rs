//! Filters: which answers are compressed, which bodies of requests are unpacked.

use std::collections::BTreeMap;

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::table::row::{ANYWHERE, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "SetOutputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", set_output_filter),
        because: "see AddOutputFilterByType",
        about: "DEFLATE compresses all answers for clients that take gzip. Other filters are passed over with a warning.",
        ..ROW
    },
    Row {
        name: "AddOutputFilterByType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] type…", 2..=MANY, add_output_filter_by_type),
        because: "compressing costs time, and a proxy in front may do it",
        about: "DEFLATE compresses answers of these MIME types for clients that take gzip; the variable no-gzip prevents it. Other filters are \
            passed over with a warning.",
        ..ROW
    },
    Row {
        name: "AddOutputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] extension…", 2..=MANY, add_output_filter),
        because: "see AddOutputFilterByType",
        about: "As SetOutputFilter, for files with these extensions.",
        ..ROW
    },
    Row {
        name: "RemoveOutputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            say_of(&mut d.said().response.compress.extensions, args, false);
            Ok(())
        }),
        because: "see AddOutputFilter",
        about: "Takes back an AddOutputFilter of an outer section.",
        ..ROW
    },
    Row {
        name: "SetInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", set_input_filter),
        because: "programs read what clients send",
        about: "DEFLATE unpacks bodies of requests that were sent as gzip (`Content-Encoding`), before a program reads them: it sees what \
            was packed, its length, and no Content-Encoding. What is no gzip is answered 400. Other filters are passed over with a warning.",
        ..ROW
    },
    Row {
        name: "AddInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] extension…", 2..=MANY, add_input_filter),
        because: "see SetInputFilter",
        about: "As SetInputFilter, for what is sent to files with these extensions.",
        ..ROW
    },
    Row {
        name: "RemoveInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            say_of(&mut d.said().response.inflate.extensions, args, false);
            Ok(())
        }),
        because: "see AddInputFilter",
        about: "Takes back an AddInputFilter of an outer section.",
        ..ROW
    },
    Row {
        name: "DeflateInflateLimitRequestBody",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Size(|d, size| d.said().response.inflate.limit = Some(size)),
        default: Some("0"),
        because: "what is unpacked takes as much room as what is sent plainly",
        about: "Bytes of a request's body when it is unpacked; 0 is as LimitRequestBody says, which what is sent must fit in any case. A \
            longer one is answered 413.",
        ..ROW
    },
    Row {
        name: "DeflateInflateRatioLimit",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Number(1..=i32::MAX as u64, |d, n| d.said().response.inflate.ratio = Some(n)),
        default: Some("200"),
        because: "httpd's; text becomes a tenth, nothing but zeros a thousandth",
        about: "How many times as long as it was sent a request's body may become when it is unpacked. More is answered 413.",
        ..ROW
    },
    Row {
        name: "DeflateInflateRatioBurst",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Number(1..=i32::MAX as u64, |d, n| d.said().response.inflate.burst = Some(n)),
        default: Some("3"),
        because: "httpd's; a short body may well be all alike",
        about: "How many buffers of 8096 bytes in a row may be over DeflateInflateRatioLimit before the body is refused.",
        ..ROW
    },
    Row {
        name: "DeflateCompressionLevel",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(1..=9, |d, n| d.said().response.compress.level = Some(n as u32)),
        because: "6, zlib's own: more costs much and saves little",
        about: "How hard to compress: 1 is fast, 9 is small.",
        ..ROW
    },
];

const OF_ANSWERS: &str = "the only filter here is DEFLATE, a Perl handler can change what it prints";
const OF_REQUESTS: &str =
    "the only filter here is DEFLATE, bodies of requests reach programs as they were sent otherwise";

/// `SetOutputFilter filter[;filter…]|None`
fn set_output_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.said().response.compress.all =
        Some(!names.eq_ignore_ascii_case("none") && is_deflate_among(draft, names, OF_ANSWERS));
    Ok(())
}

/// `SetInputFilter filter[;filter…]|None`
fn set_input_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.said().response.inflate.all =
        Some(!names.eq_ignore_ascii_case("none") && is_deflate_among(draft, names, OF_REQUESTS));
    Ok(())
}

/// `AddOutputFilterByType filter[;filter…] type…`
fn add_output_filter_by_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, types)) = args.split_first() else { return Ok(()) };
    if is_deflate_among(draft, names, OF_ANSWERS) {
        draft.said().response.compress.types.extend_from_slice(types);
    }
    Ok(())
}

/// `AddOutputFilter filter[;filter…] extension…`
fn add_output_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let deflates = is_deflate_among(draft, names, OF_ANSWERS);
    say_of(&mut draft.said().response.compress.extensions, extensions, deflates);
    Ok(())
}

/// `AddInputFilter filter[;filter…] extension…`
fn add_input_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let inflates = is_deflate_among(draft, names, OF_REQUESTS);
    say_of(&mut draft.said().response.inflate.extensions, extensions, inflates);
    Ok(())
}

/// Extensions are written with or without their dot, in any case.
fn say_of(known: &mut BTreeMap<String, bool>, extensions: &[String], on: bool) {
    known.extend(extensions.iter().map(|word| (word.trim_start_matches('.').to_ascii_lowercase(), on)));
}

/// Ours is one of httpd's filters; what others would change is left as it is, and `advice` is given.
fn is_deflate_among(draft: &mut Draft, names: &str, advice: &str) -> bool {
    let is_ours = |name: &&str| name.eq_ignore_ascii_case("deflate");
    let foreign: Vec<&str> = names.split(';').filter(|name| !name.is_empty() && !is_ours(name)).collect();
    if !foreign.is_empty() {
        draft.warn(&format!("{} is not done: {advice}", foreign.join(";")));
    }
    names.split(';').any(|name| is_ours(&name))
}
