//! Directives of Apache 1.3 that have little or no effect, accepted so that old configurations can be read.

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::table::content::headers::header;
use crate::table::row::{ANYWHERE, Effect, Form, HOSTS, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ServerType",
        contexts: SERVER,
        takes: Takes::Word("standalone", server_type),
        because: "there is one way to run the server",
        effect: Effect::Start,
        about: "Accepted for old configurations. The value inetd is refused.",
        ..ROW
    },
    Row {
        name: "BindAddress",
        contexts: SERVER,
        takes: Takes::Word("*", bind_address),
        because: "use Listen",
        effect: Effect::Start,
        about: "Accepted for old configurations if it names all addresses. For a single address write Listen.",
        ..ROW
    },
    Row {
        name: "AddModule",
        contexts: SERVER,
        takes: Takes::Words("file.c…", 1..=super::MANY, |_, _| Ok(())),
        because: "see LoadModule",
        effect: Effect::Start,
        about: "Accepted for old configurations and ignored. LoadModule reports missing modules.",
        ..ROW
    },
    Row {
        name: "ClearModuleList",
        contexts: SERVER,
        takes: Takes::Words("", 0..=0, |_, _| Ok(())),
        because: "see LoadModule",
        effect: Effect::Start,
        about: "Accepted for old configurations and ignored.",
        ..ROW
    },
    Row {
        name: "ResourceConfig",
        aliases: &["AccessConfig"],
        contexts: HOSTS,
        takes: Takes::Reading("file", Form::Line),
        because: "one file is enough",
        about: "As IncludeOptional. /dev/null is ignored.",
        ..ROW
    },
    Row {
        name: "ExtendedStatus",
        contexts: SERVER,
        takes: Takes::Flag(|_, _| {}),
        because: "counting costs nothing measurable",
        about: "Accepted for old configurations: the page of server-status always shows everything.",
        ..ROW
    },
    Row {
        name: "ErrorHeader",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("set|append|add|unset name [value]", 2..=4, |d, args| {
            header(d, &[&["always".to_owned()], args].concat())
        }),
        because: "see Header",
        about: "As `Header always`: applies to error responses too.",
        ..ROW
    },
    Row {
        name: "FancyIndexing",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Flag(|d, on| d.settings().response.listing.fancy = Some(on)),
        because: "see IndexOptions",
        about: "As `IndexOptions FancyIndexing`, for folder listings.",
        ..ROW
    },
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
        _ => Err(format!("expected *, got \"{address}\": write `Listen {address}:80` for this address alone")),
    }
}
