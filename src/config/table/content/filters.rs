//! Filters: which answers are compressed, which bodies of requests are unpacked.

use std::collections::BTreeMap;

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::model::response::compress::Coding;
use crate::config::table::row::{ANYWHERE, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "SetOutputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", set_output_filter),
        because: "see AddOutputFilterByType",
        about: "Compresses all answers: DEFLATE for clients that take gzip, BROTLI_COMPRESS for br, ZSTD for zstd. See AddOutputFilterByType.",
        ..ROW
    },
    Row {
        name: "AddOutputFilterByType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] type…", 2..=MANY, add_output_filter_by_type),
        because: "compressing costs time, a proxy in front may do it, and secrets in compressed pages can be guessed \
            (docs/operating/compression.md)",
        about: "DEFLATE compresses answers of these MIME types for clients that take gzip, BROTLI_COMPRESS for br, ZSTD (or ZSTD_COMPRESS) for \
            zstd. Of several, `BROTLI_COMPRESS;DEFLATE`, the client takes the one that its Accept-Encoding likes best, or else the first. \
            The variables no-gzip, no-brotli and no-zstd prevent them. Other filters are passed over with a warning.",
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
            say_of(&mut d.said().response.compress.extensions, args, Vec::new());
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
        takes: Takes::Number(1..=9, |d, n| d.said().response.compress.gzip_level = Some(n as u32)),
        default: Some("5"),
        because: "zlib's 6 takes up to twice as long here and saves three thousandths (docs/operating/compression.md)",
        about: "How hard DEFLATE compresses: 1 is fast, 9 is small.",
        ..ROW
    },
    Row {
        name: "BrotliCompressionQuality",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(0..=11, |d, n| d.said().response.compress.brotli_quality = Some(n as u32)),
        default: Some("5"),
        because: "httpd's: a twelfth less than gzip in twice its time; 11 takes sixty times as long (docs/operating/compression.md)",
        about: "How hard BROTLI_COMPRESS compresses: 0 is fast, 11 is small. Above 9 it is for files, not for programs.",
        ..ROW
    },
    Row {
        name: "PrecompressedFiles",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| d.said().response.compress.precompressed = Some(on)),
        default: Some("Off"),
        because: "for each request more files are looked for",
        about: "In place of a file, the one beside it is sent whose name ends with .br, .zst or .gz as well, when the client takes that coding and \
            it is not older than the file. Type and access rules are those of the file. The variables no-gzip, no-brotli and no-zstd prevent it.",
        ..ROW
    },
    Row {
        name: "ZstdCompressionLevel",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(1..=19, |d, n| d.said().response.compress.zstd_level = Some(n as u32)),
        default: Some("3"),
        because: "zstd's own: nearly as small as gzip's 5 in a third of its time (docs/operating/compression.md)",
        about: "How hard ZSTD compresses: 1 is fast, 19 is small. Its window has at most 1 MB, so that a client that takes zstd can unpack it.",
        ..ROW
    },
];

/// `SetOutputFilter filter[;filter…]|None`
pub fn set_output_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.said().response.compress.all = Some(codings(draft, names));
    Ok(())
}

/// `SetInputFilter filter[;filter…]|None`
pub fn set_input_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.said().response.inflate.all = Some(inflates(draft, names));
    Ok(())
}

/// `AddOutputFilterByType filter[;filter…] type…`
fn add_output_filter_by_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, types)) = args.split_first() else { return Ok(()) };
    let codings = codings(draft, names);
    let pairs = types.iter().flat_map(|kind| codings.iter().map(move |coding| (kind.clone(), *coding)));
    draft.said().response.compress.types.extend(pairs);
    Ok(())
}

/// `AddOutputFilter filter[;filter…] extension…`
fn add_output_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let codings = codings(draft, names);
    say_of(&mut draft.said().response.compress.extensions, extensions, codings);
    Ok(())
}

/// `AddInputFilter filter[;filter…] extension…`
fn add_input_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let inflates = inflates(draft, names);
    say_of(&mut draft.said().response.inflate.extensions, extensions, inflates);
    Ok(())
}

/// Extensions are written with or without their dot, in any case.
fn say_of<T: Clone>(known: &mut BTreeMap<String, T>, extensions: &[String], value: T) {
    known.extend(extensions.iter().map(|word| (word.trim_start_matches('.').to_ascii_lowercase(), value.clone())));
}

/// What filters of answers come to.
fn codings(draft: &mut Draft, names: &str) -> Vec<Coding> {
    const ADVICE: &str =
        "the filters here are DEFLATE, BROTLI_COMPRESS and ZSTD, a Perl handler can change what it prints";
    let names = split(names);
    warn_of(draft, names.iter().filter(|name| Coding::of_filter(name).is_none()), ADVICE);
    names.iter().filter_map(|name| Coding::of_filter(name)).collect()
}

/// Whether one of the filters of requests unpacks.
fn inflates(draft: &mut Draft, names: &str) -> bool {
    const ADVICE: &str =
        "the only filter here is DEFLATE, bodies of requests reach programs as they were sent otherwise";
    let names = split(names);
    let is_ours = |name: &&&str| name.eq_ignore_ascii_case("deflate");
    warn_of(draft, names.iter().filter(|name| !is_ours(name)), ADVICE);
    names.iter().any(|name| is_ours(&name))
}

/// The names of filters in a list.
fn split(names: &str) -> Vec<&str> {
    names.split(';').filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("none")).collect()
}

/// What other filters of httpd would change is left as it is, and `advice` is given.
fn warn_of<'a>(draft: &mut Draft, foreign: impl Iterator<Item = &'a &'a str>, advice: &str) {
    let foreign: Vec<&str> = foreign.copied().collect();
    if !foreign.is_empty() {
        draft.warn(&format!("{} is not done: {advice}", foreign.join(";")));
    }
}
