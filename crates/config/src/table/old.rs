//! Directives of Apache 1.3 that have little or no effect, accepted so that old configurations can be read.

use crate::draft::Draft;
use crate::model::response::listing::ListingOption;
use crate::table::content::headers::header;
use crate::table::row::{Effect, FILE_INFO, Form, HOSTS, INDEXES, Row, SERVER, flag, reading, rows, word, words};

pub(super) static ROWS: &[Row] = rows![
    "core.c",
    word("ServerType", SERVER, "standalone", server_type)
        .effect(Effect::Start)
        .because("there is one way to run the server"),
    "Accepted for old configurations. The value inetd is refused.",
    word("BindAddress", SERVER, "*", bind_address).effect(Effect::Start).because("use Listen"),
    "Accepted for old configurations if it names all addresses. For a single address write Listen.",
    words("AddModule", SERVER, "file.c…", 1..=super::MANY, |_, _| Ok(()))
        .effect(Effect::Start)
        .because("see LoadModule"),
    "Accepted for old configurations and ignored. LoadModule reports missing modules.",
    words("ClearModuleList", SERVER, "", 0..=0, |_, _| Ok(())).effect(Effect::Start).because("see LoadModule"),
    "Accepted for old configurations and ignored.",
    reading("ResourceConfig", HOSTS, "file", Form::Line).aliases(&["AccessConfig"]).because("one file is enough"),
    "As IncludeOptional. /dev/null is ignored.",
    flag("ExtendedStatus", SERVER, |_, _| {}).of("mod_status.c").because("counting costs nothing measurable"),
    "Accepted for old configurations: the page of server-status always shows everything.",
    words("ErrorHeader", FILE_INFO, "set|append|add|unset name [value]", 2..=4, |d, args| {
        header(d, &[&["always".to_owned()], args].concat())
    })
    .of("mod_headers.c")
    .because("see Header"),
    "As `Header always`: applies to error responses too.",
    flag("FancyIndexing", INDEXES, |d, on| {
        d.settings().response.listing.options.set(ListingOption::FancyIndexing, on);
    })
    .of("mod_autoindex.c")
    .because("see IndexOptions"),
    "As `IndexOptions FancyIndexing`, for folder listings.",
];

fn server_type(_: &mut Draft, name: &str) -> Result<(), String> {
    match name.eq_ignore_ascii_case("standalone") {
        true => Ok(()),
        false => Err(format!("expected standalone, got \"{name}\": a socket can come from systemd instead of inetd")),
    }
}

fn bind_address(_: &mut Draft, address: &str) -> Result<(), String> {
    match address {
        "*" => Ok(()),
        _ => Err(format!("expected *, got \"{address}\"; write `Listen {address}:80` for this address alone")),
    }
}
