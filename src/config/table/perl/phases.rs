//! Perl code in the phases of a request and of a worker's life; PerlHandler stands in `perl`.

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::model::perl::phases::Phase;
use crate::config::model::start_up::StartUpStep;
use crate::config::table::row::{ANYWHERE, Contexts, Effect, HOSTS, MANY, ROW, Row, SERVER, Takes};

const INNER: Contexts = ANYWHERE.and_htaccess(Class::FILE_INFO);
const LOGIN: Contexts = ANYWHERE.and_htaccess(Class::AUTH_CONFIG);
/// What is run for a process and not for a request.
const PROCESSES: Contexts = HOSTS.and_pools();
const RULES: Contexts = ANYWHERE.and_htaccess(Class::LIMIT);

macro_rules! rows {
    ($($phase:ident $contexts:ident $because:literal $about:literal;)*) => {
        &[$(Row {
            name: concat!("Perl", stringify!($phase), "Handler"),
            contexts: $contexts,
            takes: Takes::Words("handler…", 1..=MANY, |d, names| add(d, Phase::$phase, names)),
            because: $because,
            effect: Effect::Generation,
            about: $about,
            ..ROW
        }),*]
    };
}

pub static ROWS: &[Row] = rows! {
    PostReadRequest HOSTS "few programs want every request"
        "Run for every request of the host, before anything else is known of it. Every phase's handlers run in their order until one \
         says something else than OK and DECLINED; an error ends the request.";
    Trans HOSTS "DocumentRoot and Alias say it"
        "May say which file a URI means by setting `$r->filename` and returning OK. One that changes `$r->uri` or `$r->filename` leads the \
         request to the sections of the new place.";
    MapToStorage HOSTS "the file system says it"
        "mod_perl 2's: run when the URI is translated, and no folder of its file has been looked at. OK means that nothing is to be looked at.";
    HeaderParser INNER "few programs want it"
        "Run when the place of a request is known, before anybody has asked who may come in.";
    Access RULES "Order, Allow and Deny say it"
        "May refuse a client by its address, the time of day or the like: FORBIDDEN is 403.";
    Authen LOGIN "AuthUserFile says it"
        "Finds out who asks, where Require wants to know: `$r->get_basic_auth_pw`, then OK or AUTH_REQUIRED.";
    Authz LOGIN "Require says it"
        "Decides whether the user may come in: OK or AUTH_REQUIRED.";
    Type INNER "the file's extension says it"
        "May set `$r->content_type` and `$r->handler`.";
    Fixup INNER "most requests need nothing more"
        "The last before the answer: sets headers, variables, or who is to answer. Headers go with a static file, too.";
    Log INNER "CustomLog writes the lines"
        "Run when the answer has been sent, with `$r->status` and `$r->bytes_sent`.";
    ChildInit PROCESSES "most sites need none"
        "Run in every fresh worker before its first request: for database connections and the like.";
    ChildExit PROCESSES "most sites need none"
        "Run in a worker before it ends.";
    Restart SERVER "most sites need none"
        "Run while a new generation loads, at a reload and not at the first start.";
    OpenLogs PROCESSES "most sites need none"
        "mod_perl 2's: run in the process that the workers are forked from, when everything is loaded.";
    PostConfig PROCESSES "most sites need none"
        "mod_perl 2's: run after PerlOpenLogsHandler, in the same process.";
};

pub static FURTHER: &[Row] = &[
    Row {
        name: "PerlInitHandler",
        contexts: INNER,
        takes: Takes::Words("handler…", 1..=MANY, add_init),
        because: "few programs want every request",
        effect: Effect::Generation,
        about: "As early as its place allows: outside of containers just before PerlPostReadRequestHandler, inside just before \
            PerlHeaderParserHandler.",
        ..ROW
    },
    Row {
        name: "PerlDispatchHandler",
        contexts: INNER,
        takes: Takes::Word("handler", |d, name| {
            d.said().phases.dispatch = Some(name.to_owned());
            Ok(())
        }),
        because: "handlers are called directly",
        effect: Effect::Generation,
        about: "A sub that is called in the place of every handler, with `$r` and the handler: a name, or a reference to code.",
        ..ROW
    },
    Row {
        name: "PerlProcessConnectionHandler",
        contexts: HOSTS,
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            d.host().connections.process = Some(d.at.clone());
            add(d, Phase::ProcessConnection, names)
        }),
        because: "clients speak HTTP, and the front does that",
        effect: Effect::Generation,
        about: "mod_perl 2's: connections of the host's addresses are no HTTP. Each is handed to a worker, which has it until the handlers have \
            returned, or RequestTimeout has passed: `$c->client_socket`. Such a host has its addresses for itself, and no TLS.",
        ..ROW
    },
    Row {
        name: "PerlPreConnectionHandler",
        contexts: HOSTS,
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            d.host().connections.pre = Some(d.at.clone());
            add(d, Phase::PreConnection, names)
        }),
        because: "few programs want every connection",
        effect: Effect::Generation,
        about: "mod_perl 2's: run in the worker before PerlProcessConnectionHandler, with the connection; one that says something else than OK \
            and DECLINED has it closed. Without a PerlProcessConnectionHandler it is refused: connections that speak HTTP are the front's.",
        ..ROW
    },
];

/// `Perl…Handler name…`: several lines of one section add up.
fn add(draft: &mut Draft, phase: Phase, handlers: &[String]) -> Result<(), String> {
    name(draft, handlers);
    draft.said().phases.add(phase, handlers);
    Ok(())
}

/// Handlers are named: `+Module` and `+Class->method` are loaded at the start, and `check` finds them all.
pub fn name(draft: &mut Draft, handlers: &[String]) {
    for handler in handlers {
        if let Some(module) = handler.strip_prefix('+') {
            let class = module.split_once("->").map_or(module, |(class, _)| class);
            draft.start_up(StartUpStep::Module(class.to_owned()));
        }
        draft.handler(handler);
    }
}

/// `PerlInitHandler`: as early as the place where it stands allows.
fn add_init(draft: &mut Draft, handlers: &[String]) -> Result<(), String> {
    let phase = if draft.is_outside_containers() { Phase::ServerInit } else { Phase::Init };
    add(draft, phase, handlers)
}
