//! Server-side includes: the directives of mod_include.

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::model::response::includes::{Includes, XBitHack};
use crate::table::row::{ANY, ANYWHERE, CONTAINERS, Contexts, HOSTS, Row, flag, number, rows, word};

const LIMIT: Contexts = ANYWHERE.and_htaccess(Class::LIMIT);
const OPTIONS: Contexts = ANYWHERE.and_htaccess(Class::OPTIONS);

pub static ROWS: &[Row] = rows![
    "mod_include.c",
    word("XBitHack", OPTIONS, "on|off|full", x_bit_hack)
        .because("an execute bit says nothing about the text of a file"),
    "Parses files of type text/html whose user may execute them for server-side includes (docs/operating/includes.md), \
     where Options Includes allows it. `full` also sends the file's Last-Modified, and answers 304, if its group may \
     execute it.",
    word("SSIStartTag", HOSTS, "tag", |d, tag| mark(tag).map(|tag| includes(d).start_tag = Some(tag)))
        .default("<!--#", "httpd's default: an HTML comment"),
    "The text that begins an element of server-side includes.",
    word("SSIEndTag", HOSTS, "tag", |d, tag| mark(tag).map(|tag| includes(d).end_tag = Some(tag)))
        .default("-->", "httpd's default: the end of an HTML comment"),
    "The text that ends an element of server-side includes.",
    word("SSIErrorMsg", ANY, "message", |d, text| {
        includes(d).error_message = Some(text.to_owned());
        Ok(())
    })
    .because("httpd's: [an error occurred while processing this directive]"),
    "The text in place of an element of server-side includes that fails; the reason is in the error log.",
    word("SSITimeFormat", ANY, "format", |d, text| {
        includes(d).time_format = Some(text.to_owned());
        Ok(())
    })
    .because("httpd's: %A, %d-%b-%Y %H:%M:%S %Z"),
    "The format of times in server-side includes, with the conversions of strftime(3).",
    word("SSIUndefinedEcho", ANY, "text", |d, text| {
        includes(d).undefined_echo = Some(text.to_owned());
        Ok(())
    })
    .because("httpd's: (none)"),
    "The text in place of a variable that is not set, for the element echo of server-side includes.",
    flag("SSIETag", LIMIT, |d, on| includes(d).etag = Some(on))
        .because("other parts of a page may change while its file does not"),
    "Whether a page with server-side includes has the ETag of its file.",
    flag("SSILastModified", LIMIT, |d, on| includes(d).last_modified = Some(on))
        .because("other parts of a page may change while its file does not"),
    "Whether a page with server-side includes has the Last-Modified of its file, or that of the program that wrote it.",
    number("KeptBodySize", CONTAINERS, 0..=65536, |d, size| includes(d).kept_body = Some(size))
        .of("mod_request.c")
        .default("0", "httpd's default: the parts of a page get no body"),
    "Maximum body of a POST to a page with server-side includes, in bytes, that its parts get with the method POST. A longer \
     body is answered 413.",
    flag("SSILegacyExprParser", LIMIT, |d, on| includes(d).legacy_expressions = Some(on))
        .default("Off", "httpd 2.4's default"),
    "Whether the elements if and elif of server-side includes have the expressions of httpd 2.2, such as \
     `$name = /pattern/`.",
];

fn includes(draft: &mut Draft) -> &mut Includes {
    &mut draft.settings().response.includes
}

/// `SSIStartTag` and `SSIEndTag`: a text without blanks.
fn mark(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Err(format!("expected a tag without blanks like <!--#, got \"{text}\""));
    }
    Ok(text.to_owned())
}

/// `XBitHack on|off|full`
fn x_bit_hack(draft: &mut Draft, word: &str) -> Result<(), String> {
    let hack = match word.to_ascii_lowercase().as_str() {
        "on" => XBitHack::On,
        "off" => XBitHack::Off,
        "full" => XBitHack::Full,
        _ => return Err(format!("expected on, off or full, got \"{word}\"")),
    };
    includes(draft).x_bit_hack = Some(hack);
    Ok(())
}
