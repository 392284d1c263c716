//! What Apache 1.3 had and nobody needs today, so that its configurations can be read.

use super::super::draft::Draft;
use super::super::overrides::Class;
use super::super::rules::headers;
use super::{ANYWHERE, Effect, Form, HOSTS, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ServerType",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("standalone", server_type),
        default: None,
        because: "there is one way to run",
        effect: Effect::Start,
        about: "Accepted for old configurations: inetd is refused.",
    },
    Row {
        name: "BindAddress",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("*", bind_address),
        default: None,
        because: "Listen says it",
        effect: Effect::Start,
        about: "Accepted for old configurations when it names all addresses; Listen takes one.",
    },
    Row {
        name: "AddModule",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("file.c…", 1..=super::MANY, |_, _| Ok(())),
        default: None,
        because: "see LoadModule",
        effect: Effect::Start,
        about: "Accepted for old configurations and ignored: LoadModule says which modules are missing.",
    },
    Row {
        name: "ClearModuleList",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("", 0..=0, |_, _| Ok(())),
        default: None,
        because: "see LoadModule",
        effect: Effect::Start,
        about: "Accepted for old configurations and ignored.",
    },
    Row {
        name: "ResourceConfig",
        aliases: &["AccessConfig"],
        contexts: HOSTS,
        takes: Takes::Reading("file", Form::Line),
        default: None,
        because: "one file is enough",
        effect: Effect::Reload,
        about: "As IncludeOptional. /dev/null is no file.",
    },
    Row {
        name: "ExtendedStatus",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Flag(|_, _| {}),
        default: None,
        because: "counting costs nothing here",
        effect: Effect::Reload,
        about: "Accepted for old configurations: the page of server-status always tells everything.",
    },
    Row {
        name: "ErrorHeader",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("set|append|add|unset name [value]", 2..=4, |d, args| {
            headers::header(d, &[&["always".to_owned()], args].concat())
        }),
        default: None,
        because: "see Header",
        effect: Effect::Reload,
        about: "As Header always: for errors, too.",
    },
    Row {
        name: "FancyIndexing",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Flag(|d, on| d.said().rules.listing.fancy = Some(on)),
        default: None,
        because: "see IndexOptions",
        effect: Effect::Reload,
        about: "As IndexOptions FancyIndexing, for lists of folders.",
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
