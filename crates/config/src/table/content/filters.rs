//! Filters: server-side includes, compression of responses, decompression of request bodies. Filters by conditions are
//! in `filter_chain`.

use std::collections::BTreeMap;

use crate::draft::Draft;
use crate::model::response::compress::{Coding, TagChange};
use crate::model::response::filters::{FilterProvider, TextFilter};
use crate::model::response::substitute::LineSubstitution;
use crate::syntax::value;
use crate::table::row::{ANY, FILE_INFO, HOSTS, MANY, Row, flag, number, rows, size, word, words};

/// Maximum of `SubstituteMaxLineLength` in `.htaccess` files, in bytes: memory that each response may take.
const MAX_LINE_OF_HTACCESS_BYTES: u64 = 1 << 20;

/// Advice about a filter of httpd that this server lacks.
pub(super) const OUTPUT_FILTERS: &str = "the output filters are INCLUDES, SUBSTITUTE, INFLATE, DEFLATE, BROTLI_COMPRESS and ZSTD; a Perl handler can change what it prints";

pub static ROWS: &[Row] = rows![
    "mod_mime.c",
    word("SetOutputFilter", FILE_INFO, "filter[;filter…]|None", set_output_filter)
        .of("core.c")
        .because("see AddOutputFilterByType"),
    "Filters all responses. INCLUDES executes server-side includes, where Options Includes allows it \
     (docs/operating/includes.md). SUBSTITUTE applies Substitute, INFLATE decompresses gzip (docs/operating/filters.md). DEFLATE \
     compresses for clients that accept gzip, BROTLI_COMPRESS for br, ZSTD for zstd. See AddOutputFilterByType.",
    words("AddOutputFilter", FILE_INFO, "filter[;filter…] extension…", 2..=MANY, add_output_filter)
        .because("see AddOutputFilterByType"),
    "As SetOutputFilter, for files with these extensions.",
    words("RemoveOutputFilter", FILE_INFO, "extension…", 1..=MANY, |d, args| {
        say_of(&mut d.settings().response.includes.extensions, args, false)?;
        say_of(&mut d.settings().response.text_filters.extensions, args, Vec::new())?;
        say_of(&mut d.settings().response.compress.extensions, args, Vec::new())
    })
    .because("see AddOutputFilter"),
    "Cancels an AddOutputFilter of an outer section.",
    word("Substitute", FILE_INFO, "s/pattern/replacement/[infq]", substitute)
        .of("mod_substitute.c")
        .because("responses are sent as they are"),
    "Replaces text in the lines of responses that the filter SUBSTITUTE reads (docs/operating/filters.md). The pattern is a regular \
     expression, $0 to $9 in the replacement are its groups. Flags: i ignores case, n takes both as plain text, q makes each \
     replacement a text of its own for later patterns, f (the default) does not. Any character may take the place of the \
     slashes. A pattern that needs too many steps ends the response.",
    word("SubstituteMaxLineLength", FILE_INFO, "bytes", longest_line)
        .of("mod_substitute.c")
        .default("1m", "httpd's default: each response that is filtered may take this much memory"),
    "Maximum length of a line in bytes, before and after each Substitute. A longer one ends the response. At most 1m in .htaccess \
     files.",
    flag("SubstituteInheritBefore", FILE_INFO, |d, on| d.settings().response.substitute.inherit_before = Some(on))
        .of("mod_substitute.c")
        .default("Off", "httpd 2.4's default: an inner section's patterns come first"),
    "Applies the patterns of outer sections before those of this one.",
    word("SetInputFilter", FILE_INFO, "filter[;filter…]|None", set_input_filter)
        .of("core.c")
        .because("programs get request bodies as clients send them"),
    "DEFLATE decompresses request bodies with `Content-Encoding: gzip` before a program reads them. The program sees \
     the decompressed body, its length, and no Content-Encoding. Invalid gzip data is answered 400. Other filters are \
     ignored with a warning.",
    words("AddInputFilter", FILE_INFO, "filter[;filter…] extension…", 2..=MANY, add_input_filter)
        .because("see SetInputFilter"),
    "As SetInputFilter, for requests to files with these extensions.",
    words("RemoveInputFilter", FILE_INFO, "extension…", 1..=MANY, |d, args| {
        say_of(&mut d.settings().response.inflate.extensions, args, false)
    })
    .because("see AddInputFilter"),
    "Cancels an AddInputFilter of an outer section.",
    size("DeflateInflateLimitRequestBody", ANY, |d, size| d.settings().response.inflate.limit = Some(size))
        .of("mod_deflate.c")
        .default("0", "a decompressed body needs as much space as one that was sent uncompressed"),
    "Maximum size of a decompressed request body in bytes; 0 is LimitRequestBody, which limits the body as sent in any \
     case. A longer body is answered 413.",
    number("DeflateInflateRatioLimit", ANY, 1..=i32::MAX as u64, |d, n| d.settings().response.inflate.ratio = Some(n))
        .of("mod_deflate.c")
        .default("200", "httpd's default; text shrinks to a tenth, zeros to a thousandth"),
    "Maximum ratio of the decompressed to the compressed size of a request body. More is answered 413.",
    number("DeflateInflateRatioBurst", ANY, 1..=i32::MAX as u64, |d, n| d.settings().response.inflate.burst = Some(n))
        .of("mod_deflate.c")
        .default("3", "httpd's default; a short body may consist of repetitions"),
    "Number of consecutive buffers of 8096 bytes that may exceed DeflateInflateRatioLimit before the body is refused.",
    number("DeflateCompressionLevel", FILE_INFO, 1..=9, |d, n| d.settings().response.compress.gzip_level =
        Some(n as u32))
    .of("mod_deflate.c")
    .default("5", "zlib's default 6 takes up to twice as long and saves 0.3 % (docs/operating/compression.md)"),
    "Compression level of DEFLATE, from 1 (fastest) to 9 (smallest).",
    number("BrotliCompressionQuality", FILE_INFO, 0..=11, |d, n| d.settings().response.compress.brotli_quality =
        Some(n as u32))
    .of("mod_brotli.c")
    .default(
        "5",
        "httpd's default: a twelfth smaller than gzip in twice the time; 11 takes sixty times as long \
             (docs/operating/compression.md)"
    ),
    "Compression quality of BROTLI_COMPRESS, from 0 (fastest) to 11 (smallest). Values above 9 suit files, not \
     programs.",
    word("DeflateAlterETag", HOSTS, "AddSuffix|NoChange|Remove", |d, word| {
        d.settings().response.compress.gzip_tag = Some(TagChange::parse(word)?);
        Ok(())
    })
    .of("mod_deflate.c")
    .because("a weak tag, with which clients can revalidate at the program (RFC 9110, 8.8.1)"),
    "The entity tag of a response that DEFLATE compresses or INFLATE decompresses. AddSuffix: -gzip or -gunzip is appended, \
     as by httpd without this directive, and a client with that tag gets the whole response again. NoChange: the tag of the \
     response as it was. Remove: none.",
    word("BrotliAlterETag", HOSTS, "AddSuffix|NoChange|Remove", |d, word| {
        d.settings().response.compress.brotli_tag = Some(TagChange::parse(word)?);
        Ok(())
    })
    .of("mod_brotli.c")
    .because("see DeflateAlterETag"),
    "As DeflateAlterETag, for BROTLI_COMPRESS and the suffix -br.",
    flag("PrecompressedFiles", FILE_INFO, |d, on| d.settings().response.compress.precompressed = Some(on))
        .of("cameleer.c")
        .default("Off", "each request for a file looks up more files"),
    "Sends a compressed copy in place of a file: the file of the same name with .br, .zst or .gz appended. The client \
     must accept that coding, and the copy must not be older. Type and access rules are those of the file. The \
     variables no-gzip, no-brotli and no-zstd prevent it.",
    number("ZstdCompressionLevel", FILE_INFO, 1..=19, |d, n| d.settings().response.compress.zstd_level =
        Some(n as u32))
    .of("mod_zstd.c")
    .default(
        "3",
        "zstd's default: nearly as small as gzip's level 5 in a third of the time (docs/operating/compression.md)"
    ),
    "Compression level of ZSTD, from 1 (fastest) to 19 (smallest). The window is at most 1 MB, so that every zstd \
     client can decompress it.",
];

/// `SetOutputFilter filter[;filter…]|None`
pub fn set_output_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.settings().response.includes.all = Some(has_includes(names));
    draft.settings().response.text_filters.all = Some(text_filters(names));
    draft.settings().response.compress.all = Some(codings(draft, names));
    Ok(())
}

/// `SetInputFilter filter[;filter…]|None`
pub fn set_input_filter(draft: &mut Draft, names: &str) -> Result<(), String> {
    draft.settings().response.inflate.all = Some(inflates(draft, names));
    Ok(())
}

/// `AddOutputFilter filter[;filter…] extension…`
fn add_output_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    say_of(&mut draft.settings().response.includes.extensions, extensions, has_includes(names))?;
    say_of(&mut draft.settings().response.text_filters.extensions, extensions, text_filters(names))?;
    let codings = codings(draft, names);
    say_of(&mut draft.settings().response.compress.extensions, extensions, codings)
}

/// `AddInputFilter filter[;filter…] extension…`
fn add_input_filter(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, extensions)) = args.split_first() else { return Ok(()) };
    let inflates = inflates(draft, names);
    say_of(&mut draft.settings().response.inflate.extensions, extensions, inflates)
}

/// Sets `value` for `extensions`, which are written with or without a dot, in any case.
fn say_of<T: Clone>(known: &mut BTreeMap<String, T>, extensions: &[String], value: T) -> Result<(), String> {
    known.extend(extensions.iter().map(|word| (word.trim_start_matches('.').to_ascii_lowercase(), value.clone())));
    Ok(())
}

/// Content codings for filter names; warns of other filters.
fn codings(draft: &mut Draft, names: &str) -> Vec<Coding> {
    let coding = |provider| match provider {
        FilterProvider::Coding(coding) => Some(coding),
        FilterProvider::Text(_) => None,
    };
    known(draft, names).into_iter().filter_map(|(_, provider)| coding(provider)).collect()
}

/// The output filters of a list, with their names as written; warns of others.
pub(super) fn known<'a>(draft: &mut Draft, names: &'a str) -> Vec<(&'a str, FilterProvider)> {
    let names = split(names);
    let provider = |name: &str| FilterProvider::of(name);
    warn_of(draft, names.iter().filter(|name| provider(name).is_none()), OUTPUT_FILTERS);
    names.into_iter().filter_map(|name| Some((name, provider(name)?))).collect()
}

/// The filters of a list that change texts.
fn text_filters(names: &str) -> Vec<TextFilter> {
    split(names).into_iter().filter_map(TextFilter::of).collect()
}

/// `Substitute "s/pattern/replacement/flags"`
fn substitute(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.charge_rule()?;
    let rule = LineSubstitution::parse(text, &mut draft.patterns)?;
    draft.settings().response.substitute.rules.push(rule.into());
    Ok(())
}

/// `SubstituteMaxLineLength bytes`
fn longest_line(draft: &mut Draft, text: &str) -> Result<(), String> {
    // Units are httpd's, in which b is bytes.
    let bytes = value::size(text.strip_suffix(['b', 'B']).unwrap_or(text))?;
    if draft.patterns.is_of_htaccess() && bytes > MAX_LINE_OF_HTACCESS_BYTES {
        return Err(format!(
            "{text} is more than {} MB, the most in .htaccess files; write it in the main configuration",
            MAX_LINE_OF_HTACCESS_BYTES >> 20
        ));
    }
    draft.settings().response.substitute.longest_line = Some(bytes);
    Ok(())
}

/// Whether a list of filters contains INCLUDES.
fn has_includes(names: &str) -> bool {
    split(names).iter().any(|name| name.trim().eq_ignore_ascii_case("includes"))
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
