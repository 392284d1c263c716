//! Perl handlers for the phases of a request and of a worker's life, except PerlHandler.

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::model::perl::phases::Phase;
use crate::model::start_up::StartUpStep;
use crate::syntax::source::Replacing;
use crate::table::row::{ANYWHERE, Contexts, Effect, FILE_INFO, HOSTS, MANY, Row, SERVER, rows, word, words};

const INNER: Contexts = FILE_INFO;
const LOGIN: Contexts = ANYWHERE.and_htaccess(Class::AUTH_CONFIG);
/// Handlers that run once per process, not per request.
const PROCESSES: Contexts = HOSTS.and_pools();
const RULES: Contexts = ANYWHERE.and_htaccess(Class::LIMIT);

macro_rules! phases {
    ($($phase:ident $contexts:ident $because:literal $about:literal;)*) => {
        rows!["mod_perl.c", $(
            words(concat!("Perl", stringify!($phase), "Handler"), $contexts, "handler…", 1..=MANY, |d, names| {
                add(d, Phase::$phase, names)
            })
            .replacing(Replacing::UnlessSub)
            .effect(Effect::Generation)
            .because($because),
            $about,
        )*]
    };
}

pub static ROWS: &[Row] = phases! {
    PostReadRequest HOSTS "few programs need every request"
        "Runs for every request of the host, before its URI is mapped to a place. Handlers of a phase run in order until one \
         returns something other than OK and DECLINED; an error ends the request.";
    Trans HOSTS "DocumentRoot and Alias map URIs to files"
        "Maps a URI to a file by setting `$r->filename` and returning OK. If a handler changes `$r->uri` or `$r->filename`, the sections \
         of the new place apply.";
    MapToStorage HOSTS "the file system determines the file"
        "mod_perl 2's: runs after the URI is translated, before the folders of the file are examined. OK skips that examination.";
    HeaderParser INNER "few programs need this phase"
        "Runs when the place of a request is known, before access control.";
    Access RULES "Order, Allow and Deny control access"
        "May refuse a client, by its address or the time of day for instance: FORBIDDEN is 403.";
    Authen LOGIN "AuthUserFile authenticates users"
        "Authenticates the user, where Require needs one: `$r->get_basic_auth_pw`, then OK or AUTH_REQUIRED.";
    Authz LOGIN "Require authorizes users"
        "Decides whether the user has access: OK or AUTH_REQUIRED.";
    Type INNER "the file's extension determines the type"
        "May set `$r->content_type` and `$r->handler`.";
    Fixup INNER "most requests need no further change"
        "The last phase before the response: sets headers, variables, or the handler. Headers apply to static files, too.";
    Log INNER "CustomLog writes access logs"
        "Runs after the response was sent, with `$r->status` and `$r->bytes_sent`.";
    ChildInit PROCESSES "most sites need none"
        "Runs in every new worker before its first request: for database connections, for instance.";
    ChildExit PROCESSES "most sites need none"
        "Runs in a worker before it exits.";
    Restart SERVER "most sites need none"
        "Runs while a new generation loads, at a reload but not at the first start.";
    OpenLogs PROCESSES "most sites need none"
        "mod_perl 2's: runs in the process from which workers are forked, after everything is loaded.";
    PostConfig PROCESSES "most sites need none"
        "mod_perl 2's: runs after PerlOpenLogsHandler, in the same process.";
};

pub static FURTHER: &[Row] = rows![
    "mod_perl.c",
    words("PerlInitHandler", INNER, "handler…", 1..=MANY, add_init)
        .replacing(Replacing::UnlessSub)
        .effect(Effect::Generation)
        .because("few programs need every request"),
    "Runs as early as its place allows: outside of containers just before PerlPostReadRequestHandler, inside just \
     before PerlHeaderParserHandler.",
    word("PerlDispatchHandler", INNER, "handler", |d, name| {
        d.settings().phases.dispatch = Some(name.to_owned());
        Ok(())
    })
    .replacing(Replacing::UnlessSub)
    .effect(Effect::Generation)
    .because("handlers are called directly"),
    "A sub that is called in place of every handler, with `$r` and the handler: a name, or a code reference.",
    words("PerlProcessConnectionHandler", HOSTS, "handler…", 1..=MANY, |d, names| {
        d.host().connections.process = Some(d.at.clone());
        add(d, Phase::ProcessConnection, names)
    })
    .replacing(Replacing::UnlessSub)
    .effect(Effect::Generation)
    .because("clients use HTTP, which the front handles"),
    "mod_perl 2's: connections of the host's addresses do not use HTTP. Each is passed to a worker, and occupies it \
     until the handlers return or RequestTimeout ends them: `$c->client_socket`. The addresses of such a host are \
     exclusive, and without TLS.",
    words("PerlPreConnectionHandler", HOSTS, "handler…", 1..=MANY, |d, names| {
        d.host().connections.pre = Some(d.at.clone());
        add(d, Phase::PreConnection, names)
    })
    .replacing(Replacing::UnlessSub)
    .effect(Effect::Generation)
    .because("few programs need every connection"),
    "mod_perl 2's: runs in the worker before PerlProcessConnectionHandler, with the connection. A return value other \
     than OK and DECLINED closes the connection. Without a PerlProcessConnectionHandler it is refused: the front \
     handles HTTP connections.",
];

/// `Perl…Handler name…`. Several lines of one section add up.
fn add(draft: &mut Draft, phase: Phase, handlers: &[String]) -> Result<(), String> {
    register(draft, handlers)?;
    draft.settings().phases.add(phase, handlers);
    Ok(())
}

/// Registers handlers for `check`. `+Module` and `+Class->method` are also loaded at the start.
pub fn register(draft: &mut Draft, handlers: &[String]) -> Result<(), String> {
    for handler in handlers {
        if let Some(module) = handler.strip_prefix('+') {
            let class = module.split_once("->").map_or(module, |(class, _)| class);
            if class.is_empty() {
                return Err(format!("expected the name of a module after +, got \"{handler}\""));
            }
            let directive = draft.name.clone();
            draft.start_up(StartUpStep::HandlerModule { module: class.to_owned(), directive });
        }
        draft.handler(handler);
    }
    Ok(())
}

/// `PerlInitHandler`: outside of containers a phase of the host, otherwise of the place.
fn add_init(draft: &mut Draft, handlers: &[String]) -> Result<(), String> {
    let phase = if draft.is_in_container() { Phase::Init } else { Phase::ServerInit };
    add(draft, phase, handlers)
}
