//! Filters: compression of responses, decompression of request bodies.

use std::collections::BTreeMap;

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::model::response::compress::Coding;
use crate::table::row::{ANYWHERE, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "SetOutputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", set_output_filter),
        because: "see AddOutputFilterByType",
        about: "Compresses all responses: DEFLATE for clients that accept gzip, BROTLI_COMPRESS for br, ZSTD for zstd. See AddOutputFilterByType.",
        ..ROW
    },
    Row {
        name: "AddOutputFilterByType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] type…", 2..=MANY, add_output_filter_by_type),
        because: "compression costs time, a proxy in front may do it, and secrets in compressed pages can be guessed \
            (docs/operating/compression.md)",
        about: "Compresses responses of these MIME types: DEFLATE for clients that accept gzip, BROTLI_COMPRESS for br, ZSTD (or ZSTD_COMPRESS) for \
            zstd. With several, `BROTLI_COMPRESS;DEFLATE`, the client's Accept-Encoding decides; on a tie the first is used. \
            The variables no-gzip, no-brotli and no-zstd prevent them. Other filters are ignored with a warning.",
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
            say_of(&mut d.settings().response.compress.extensions, args, Vec::new());
            Ok(())
        }),
        because: "see AddOutputFilter",
        about: "Cancels an AddOutputFilter of an outer section.",
        ..ROW
    },
    Row {
        name: "SetInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]|None", set_input_filter),
        because: "programs get request bodies as clients send them",
        about: "DEFLATE decompresses request bodies with `Content-Encoding: gzip` before a program reads them. The program sees the \
            decompressed body, its length, and no Content-Encoding. Invalid gzip data is answered 400. Other filters are ignored with a warning.",
        ..ROW
    },
    Row {
        name: "AddInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("filter[;filter…] extension…", 2..=MANY, add_input_filter),
        because: "see SetInputFilter",
        about: "As SetInputFilter, for requests to files with these extensions.",
        ..ROW
    },
    Row {
        name: "RemoveInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            say_of(&mut d.settings().response.inflate.extensions, args, false);
            Ok(())
        }),
        because: "see AddInputFilter",
        about: "Cancels an AddInputFilter of an outer section.",
        ..ROW
    },
    Row {
        name: "DeflateInflateLimitRequestBody",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Size(|d, size| d.settings().response.inflate.limit = Some(size)),
        default: Some("0"),
        because: "a decompressed body needs as much space as one that was sent uncompressed",
        about: "Maximum size of a decompressed request body in bytes; 0 is LimitRequestBody, which limits the body as sent in any case. A \
            longer body is answered 413.",
        ..ROW
    },
    Row {
        name: "DeflateInflateRatioLimit",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Number(1..=i32::MAX as u64, |d, n| d.settings().response.inflate.ratio = Some(n)),
        default: Some("200"),
        because: "httpd's default; text shrinks to a tenth, zeros to a thousandth",
        about: "Maximum ratio of the decompressed to the compressed size of a request body. More is answered 413.",
        ..ROW
    },
    Row {
        name: "DeflateInflateRatioBurst",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Number(1..=i32::MAX as u64, |d, n| d.settings().response.inflate.burst = Some(n)),
        default: Some("3"),
        because: "httpd's default; a short body may consist of repetitions",
        about: "Number of consecutive buffers of 8096 bytes that may exceed DeflateInflateRatioLimit before the body is refused.",
        ..ROW
    },
    Row {
        name: "DeflateCompressionLevel",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(1..=9, |d, n| d.settings().response.compress.gzip_level = Some(n as u32)),
        default: Some("5"),
        because: "zlib's default 6 takes up to twice as long and saves 0.3 % (docs/operating/compression.md)",
        about: "Compression level of DEFLATE, from 1 (fastest) to 9 (smallest).",
        ..ROW
    },
    Row {
        name: "BrotliCompressionQuality",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(0..=11, |d, n| d.settings().response.compress.brotli_quality = Some(n as u32)),
        default: Some("5"),
        because: "httpd's default: a twelfth smaller than gzip in twice the time; 11 takes sixty times as long (docs/operating/compression.md)",
        about: "Compression quality of BROTLI_COMPRESS, from 0 (fastest) to 11 (smallest). Values above 9 suit files, not programs.",
        ..ROW
    },
    Row {
        name: "PrecompressedFiles",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| d.settings().response.compress.precompressed = Some(on)),
        default: Some("Off"),
        because: "it looks up more files for each request",
        about: "Sends a compressed copy in place of a file: the file of the same name with .br, .zst or .gz appended. The client must accept that coding, and \
            the copy must not be older. Type and access rules are those of the file. The variables no-gzip, no-brotli and no-zstd prevent it.",
        ..ROW
    },
    Row {
        name: "ZstdCompressionLevel",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Number(1..=19, |d, n| d.settings().response.compress.zstd_level = Some(n as u32)),
        default: Some("3"),
        because: "zstd's default: nearly as small as gzip's level 5 in a third of the time (docs/operating/compression.md)",
        about: "Compression level of ZSTD, from 1 (fastest) to 19 (smallest). The window is at most 1 MB, so that every zstd client can decompress it.",
        ..ROW
    },
];

/// `SetOutputFilter filter[;filter…]|None`
pub fn set_output_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.settings().response.compress.all = Some(codings(draft, names));
    Ok(())
}

/// `SetInputFilter filter[;filter…]|None`
pub fn set_input_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.settings().response.inflate.all = Some(inflates(draft, names));
    Ok(())
}

/// `AddOutputFilterByType filter[;filter…] type…`
fn add_output_filter_by_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, types)) = args.split_first() else { return Ok(()) };
    let codings = codings(draft, names);
    let pairs = types.iter().flat_map(|kind| codings.iter().map(move |coding| (kind.clone(), *coding)));
    draft.settings().response.compress.types.extend(pairs);
    Ok(())
}

/// `AddOutputFilter filter[;filter…] extension…`
fn add_output_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let codings = codings(draft, names);
    say_of(&mut draft.settings().response.compress.extensions, extensions, codings);
    Ok(())
}

/// `AddInputFilter filter[;filter…] extension…`
fn add_input_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let inflates = inflates(draft, names);
    say_of(&mut draft.settings().response.inflate.extensions, extensions, inflates);
    Ok(())
}

/// Sets `value` for `extensions`, which are written with or without a dot, in any case.
fn say_of<T: Clone>(known: &mut BTreeMap<String, T>, extensions: &[String], value: T) {
    known.extend(extensions.iter().map(|word| (word.trim_start_matches('.').to_ascii_lowercase(), value.clone())));
}

/// Content codings for filter names; warns of other filters.
fn codings(draft: &mut Draft, names: &str) -> Vec<Coding> {
    const ADVICE: &str =
        "the output filters are DEFLATE, BROTLI_COMPRESS and ZSTD; a Perl handler can change what it prints";
    let names = split(names);
    warn_of(draft, names.iter().filter(|name| Coding::of_filter(name).is_none()), ADVICE);
    names.iter().filter_map(|name| Coding::of_filter(name)).collect()
}

/// Whether `names` contains DEFLATE; warns of other filters.
fn inflates(draft: &mut Draft, names: &str) -> bool {
    const ADVICE: &str = "the only input filter is DEFLATE; without it programs get request bodies as sent";
    let names = split(names);
    let is_ours = |name: &&&str| name.eq_ignore_ascii_case("deflate");
    warn_of(draft, names.iter().filter(|name| !is_ours(name)), ADVICE);
    names.iter().any(|name| is_ours(&name))
}

/// Filter names of a list separated by semicolons.
fn split(names: &str) -> Vec<&str> {
    names.split(';').filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("none")).collect()
}

/// Warns that filters of httpd are ignored.
fn warn_of<'a>(draft: &mut Draft, foreign: impl Iterator<Item = &'a &'a str>, advice: &str) {
    let foreign: Vec<&str> = foreign.copied().collect();
    if !foreign.is_empty() {
        draft.warn(&format!("{} is ignored: {advice}", foreign.join(";")));
    }
}
