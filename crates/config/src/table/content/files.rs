//! Mapping of URL paths to files, and their handlers.

use crate::draft::Draft;
use crate::model::context::{SectionContext, with_merged_slashes};
use crate::model::handler::Handler;
use crate::model::host::{Alias, AliasFrom};
use crate::model::options;
use crate::model::overrides::{Class, Overrides};
use crate::model::response::expr::ExprText;
use crate::model::response::{AliasByExpression, PlaceAlias};
use crate::table::checks::arguments;
use crate::table::content::types::handler;
use crate::table::row::{
    ANYWHERE, Contexts, DIRECTORY, FILE_INFO, HOSTS, INDEXES, MANY, Row, SERVER, flag, places, rows, word, words,
};

const ALIASED: Contexts = places(HOSTS.places | SectionContext::Location as u8);

pub static ROWS: &[Row] = rows![
    "core.c",
    word("DocumentRoot", HOSTS, "path", |d, path| {
        d.host().document_root = d.document_path(path);
        Ok(())
    })
    .default("htdocs", "httpd's default"),
    "The folder of the site's files. A virtual host inherits it.",
    words("Alias", ALIASED, "[/url-path] path", 1..=2, |d, args| match args {
        [to] if d.is_in_container() => alias_of_place(d, to, false),
        _ => alias(d, args, false),
    })
    .of("mod_alias.c")
    .pairs()
    .because("all files are below DocumentRoot"),
    "Maps a URL path, and everything below it, to another folder or file. The first match counts, a virtual host's \
     before the main server's. In a Location, the one argument is the file or folder of every path in it, and may have \
     expressions such as `%{env:MATCH_NAME}`.",
    words("ScriptAlias", ALIASED, "[/url-path] path", 1..=2, |d, args| match args {
        [to] if d.is_in_container() => alias_of_place(d, to, true),
        _ => alias(d, args, true),
    })
    .of("mod_alias.c")
    .pairs()
    .because("no folder is executable by default"),
    "As Alias; files there run as CGI programs, with or without Options ExecCGI. An AddHandler or SetHandler for a \
     file there takes precedence.",
    flag("AliasPreservePath", ANYWHERE, |d, on| d.settings().response.alias_preserve_path = Some(on))
        .of("mod_alias.c")
        .default("Off", "httpd's default"),
    "Whether an Alias in `<Location>` appends the rest of the path to its target, as one outside does.",
    word("OpenFileCache", SERVER, "Off|a number from 1 to 100000", open_file_cache).of("cameleer.c").default(
        "1000",
        "a popular file is opened once a second, not for each request; changes still take effect at once"
    ),
    "Number of files and folders that each thread of the front keeps open, for a second, limited to a sixteenth of the \
     limit on open files. A replaced, changed or removed file is noticed at once; a folder above it that is renamed, \
     or made inaccessible to User, after a second. Targets of symbolic links are opened for each request. Off: every \
     file is.",
    word("DefaultType", FILE_INFO, "type|None", default_type)
        .default("None", "httpd's default since 2.4: no Content-Type is better than a wrong one"),
    "The MIME type of files with unknown extensions, and of responses of Perl handlers that set no type.",
    words("DirectoryIndex", INDEXES, "name…|disabled", 1..=MANY, directory_index)
        .of("mod_dir.c")
        .default("index.html", "httpd's default"),
    "Names tried, in this order, when a folder is requested. A name that begins with `/` is a URL path of the site; \
     any other name is a path below the folder's, which an Alias may map elsewhere.",
    words("Options", ANYWHERE.and_htaccess(Class::OPTIONS), "[+|-]name…", 1..=MANY, set_options)
        .default("FollowSymLinks", "httpd's default: links in the site were made by its owner"),
    "ExecCGI, FollowSymLinks, SymLinksIfOwnerMatch, Indexes, MultiViews, All (all but MultiViews), None. `+` and `-` change the outer options; without \
     them the options are replaced. Link options in `<Location>` are ignored, as in httpd: write them in \
     `<Directory>`. SymLinksIfOwnerMatch follows at most eight links of one path.",
    words(
        "AllowOverride",
        DIRECTORY,
        "All|None|AuthConfig|FileInfo|Indexes|Limit|Options[=name,…]…",
        1..=MANY,
        allow_override
    )
    .default("None", "httpd's default since 2.4 (1.3 had All): unexpected files are not read"),
    "Directives that .htaccess files in this folder and below may contain; with None no such file is read. Files are \
     read once and watched: a change takes effect at once. An error in one is logged, and requests below it are \
     answered 500.",
    words("AccessFileName", HOSTS, "name…", 1..=MANY, access_file_name).default(".htaccess", "httpd's default"),
    "Names of .htaccess files; the first that a folder contains counts. They are never served.",
    word(
        "SetHandler",
        FILE_INFO,
        "perl-script|cgi-script|psgi|server-status|server-info|server-metrics|server-healthz|server-readyz|send-as-is|type-map|default-handler|name",
        set_handler
    )
    .default("default-handler", "without a handler, requests are served from files"),
    "The handler of requests: the PerlHandler list, a CGI program, the PsgiApp, a file that begins with its own \
     headers, a type map, or the file itself. `server-…` are pages about the server, as mod_status and mod_info, Prometheus \
     metrics, and for load balancers `server-healthz`, which answers 200 as long as the server lives, and `server-readyz`, \
     which answers 503 while it stops or has no worker that is ready. `None` removes an outer SetHandler. Any other name needs an Action; without one, requests are answered \
     500 and an error is logged. The server pages are not allowed in .htaccess files.",
];

fn access_file_name(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    if let Some(path) = names.iter().find(|name| name.contains('/')) {
        return Err(format!("expected names of files, got the path \"{path}\""));
    }
    draft.host().access_file_names = names.to_vec();
    Ok(())
}

/// Maximum value of OpenFileCache: more files than a process can usually open.
const MAX_OPEN_FILES: u32 = 100_000;

fn open_file_cache(draft: &mut Draft, word: &str) -> Result<(), String> {
    let number = || word.parse().ok().filter(|files| (1..=MAX_OPEN_FILES).contains(files));
    draft.config.open_file_cache = match word.eq_ignore_ascii_case("off") {
        true => 0,
        false => {
            number().ok_or_else(|| format!("expected Off or a number from 1 to {MAX_OPEN_FILES}, got \"{word}\""))?
        }
    };
    Ok(())
}

fn default_type(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.settings().default_type = Some(text.to_owned());
    Ok(())
}

/// `AllowOverride …`
fn allow_override(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let allowed = Overrides::parse(args)?;
    if let Some(arg) = args.iter().find(|arg| arg.to_ascii_lowercase().starts_with("fileinfo=")) {
        draft.warn(&format!("{arg} allows all directives of FileInfo, as in httpd"));
    }
    if draft.is_in_regex() {
        draft
            .warn("has no effect in a section with a regular expression, as in httpd; write a <Directory> with a path");
    } else {
        draft.settings().allow_override = Some(allowed);
    }
    Ok(())
}

/// `Alias path` and `ScriptAlias path` in `<Location>`: a path, or an expression.
fn alias_of_place(draft: &mut Draft, to: &str, script: bool) -> Result<(), String> {
    let text = ExprText::parse(to, &mut draft.patterns)?;
    if text.constant().is_some() {
        return alias(draft, &[to.to_owned()], script);
    }
    draft.settings().response.alias = Some(AliasByExpression { to: text, script });
    Ok(())
}

/// `Alias /url-path path`, `ScriptAlias`; in `<Location>` without `/url-path`.
fn alias(draft: &mut Draft, args: &[String], script: bool) -> Result<(), String> {
    let [from, target] = match (args, draft.is_in_container()) {
        ([to], true) => {
            let to = draft.document_path(to);
            draft.settings().response.place_alias = Some(PlaceAlias { to, script });
            return Ok(());
        }
        ([from, to], false) => [from.clone(), to.clone()],
        (_, true) => return Err("expected only a path: in <Location>, the section has the URL path".to_owned()),
        (_, false) => {
            return Err(format!("expected `{} /url-path path`, got {}", draft.name, arguments(args.len())));
        }
    };
    if !from.starts_with('/') {
        return Err(format!("expected a path that begins with /, got \"{from}\""));
    }
    let to = draft.document_path(&target);
    if from.ends_with('/') && !target.ends_with('/') {
        draft.warn(&format!(
            "\"{from}\" ends with a slash and \"{target}\" does not: \"{from}x\" is the file \"{target}x\", as in httpd; end both with one, or neither"
        ));
    }
    draft.host().aliases.push(Alias { from: AliasFrom::Prefix(with_merged_slashes(&from)), to, script });
    Ok(())
}

/// `DirectoryIndex name… | disabled`. A further line of the same section adds names.
fn directory_index(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let index = draft.settings().directory_index.get_or_insert_default();
    if args.iter().any(|arg| arg == "disabled") {
        index.clear();
    } else {
        index.extend_from_slice(args);
    }
    Ok(())
}

/// `Options …`
fn set_options(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (next, ignored) = options::parse(args)?;
    if let Some(Err(message)) = draft.htaccess.map(|rules| rules.check_options(&next)) {
        return draft.forbidden(message);
    }
    if !ignored.is_empty() {
        draft.warn(&format!("not supported yet and ignored: {}", ignored.join(" ")));
    }
    let options = &mut draft.settings().options;
    *options = Some(options.as_ref().map_or_else(|| next.clone(), |before| before.then(&next)));
    Ok(())
}

/// `SetHandler name`
fn set_handler(draft: &mut Draft, name: &str) -> Result<(), String> {
    let handler = handler(draft, name)?;
    if matches!(handler, Handler::PerlScript | Handler::ModPerl) {
        draft.code_handlers.push((draft.at.clone(), draft.position.section));
    }
    let settings = draft.settings();
    (settings.handler, settings.unsets_handler) = (Some(handler), name.eq_ignore_ascii_case("none"));
    Ok(())
}
