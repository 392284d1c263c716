//! From URL paths to files, and what those are.

use crate::config::draft::Draft;
use crate::config::model::host::{Alias, AliasFrom};
use crate::config::model::options;
use crate::config::model::overrides::{Class, Overrides};
use crate::config::table::content::types::handler;
use crate::config::table::row::{ANYWHERE, DIRECTORY, HOSTS, MANY, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "DocumentRoot",
        contexts: HOSTS,
        takes: Takes::Word("path", |d, path| {
            d.host().document_root = d.document_path(path);
            Ok(())
        }),
        default: Some("htdocs"),
        because: "httpd's",
        about: "The folder of the files of the site. A virtual host inherits it.",
        ..ROW
    },
    Row {
        name: "Alias",
        contexts: HOSTS,
        takes: Takes::Words("/url-path path", 2..=2, |d, args| alias(d, args, false)),
        because: "everything lies below DocumentRoot",
        about: "What is below the URL path lies in another place. The first that matches counts, a virtual host's before the main server's.",
        ..ROW
    },
    Row {
        name: "ScriptAlias",
        contexts: HOSTS,
        takes: Takes::Words("/url-path path", 2..=2, |d, args| alias(d, args, true)),
        because: "no folder is executable by itself",
        about: "As Alias; what lies there is run as a CGI script, whatever SetHandler and Options say.",
        ..ROW
    },
    Row {
        name: "OpenFileCache",
        contexts: SERVER,
        takes: Takes::Word("Off|a number from 1 to 100000", open_file_cache),
        default: Some("1000"),
        because: "a file that many ask for is opened once a second, not for each; what happens to it is seen at once all the same",
        about: "How many files and folders each thread of the front keeps open, for a second, and no more than a sixteenth of the limit on open \
            files. A file that is replaced, changed or removed is seen at once; a folder above it that is renamed, or closed to the server's \
            user, after a second. What lies behind a symbolic link is opened for each request. Off: everything is.",
        ..ROW
    },
    Row {
        name: "DefaultType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("type|None", default_type),
        default: Some("None"),
        because: "httpd's since 2.4: no Content-Type is better than a wrong one",
        about: "The MIME type of files whose extension is unknown, and of what Perl handlers answer there without naming a type.",
        ..ROW
    },
    Row {
        name: "DirectoryIndex",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("name…|disabled", 1..=MANY, |d, names| {
            directory_index(d, names);
            Ok(())
        }),
        default: Some("index.html"),
        because: "httpd's",
        about: "The files tried, in this order, when a folder is asked for. One that begins with `/` is a path of the site, to which the request \
            goes on; each other one is a path below the folder's, which an Alias may lead elsewhere.",
        ..ROW
    },
    Row {
        name: "Options",
        contexts: ANYWHERE.and_htaccess(Class::OPTIONS),
        takes: Takes::Words("[+|-]name…", 1..=MANY, set_options),
        default: Some("FollowSymLinks"),
        because: "httpd's: a link in the site was put there by its owner",
        about: "ExecCGI, FollowSymLinks, SymLinksIfOwnerMatch, Indexes, All, None. With `+` and `-` the outer options are changed, \
            otherwise replaced. What `<Location>` says of links is ignored, as in httpd: say it in `<Directory>`. \
            Of one path SymLinksIfOwnerMatch follows eight links at most.",
        ..ROW
    },
    Row {
        name: "AllowOverride",
        contexts: DIRECTORY,
        takes: Takes::Words("All|None|AuthConfig|FileInfo|Indexes|Limit|Options[=name,…]…", 1..=MANY, allow_override),
        default: Some("None"),
        because: "httpd's since 2.4 (1.3 had All): files that nobody expects are not read",
        about: "Which directives the .htaccess files of this folder and those below may hold; with None there is none. They are read \
            once and watched: a change counts at once. A mistake in one is a line in the error log and a 500 for what lies below it.",
        ..ROW
    },
    Row {
        name: "AccessFileName",
        contexts: HOSTS,
        takes: Takes::Words("name…", 1..=MANY, access_file_name),
        default: Some(".htaccess"),
        because: "httpd's",
        about: "What .htaccess files are called; the first that a folder has counts. Nobody is ever shown one.",
        ..ROW
    },
    Row {
        name: "SetHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word(
            "perl-script|cgi-script|psgi|server-status|server-info|server-metrics|send-as-is|default-handler|name",
            set_handler,
        ),
        default: Some("default-handler"),
        because: "what is not handed to a program is a file",
        about: "Who answers: the PerlHandler list, a CGI script kept compiled, the PsgiApp, a page about the server (mod_status's or \
            mod_info's, or what Prometheus asks for), a file with headers of its own, or the file itself. `None` is default-handler. For any other name an Action \
            says it; where none does, requests are answered 500 with a line in the error log. In .htaccess files these \
            pages are not allowed.",
        ..ROW
    },
];

fn access_file_name(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    if let Some(path) = names.iter().find(|name| name.contains('/')) {
        return Err(format!("expected names of files, got the path \"{path}\""));
    }
    draft.host().access_file_names = names.to_vec();
    Ok(())
}

/// No machine has descriptors for more.
const MOST_OPEN_FILES: u32 = 100_000;

fn open_file_cache(draft: &mut Draft, word: &str) -> Result<(), String> {
    let number = || word.parse().ok().filter(|files| (1..=MOST_OPEN_FILES).contains(files));
    draft.config.open_file_cache = match word.eq_ignore_ascii_case("off") {
        true => 0,
        false => {
            number().ok_or_else(|| format!("expected Off or a number from 1 to {MOST_OPEN_FILES}, got \"{word}\""))?
        }
    };
    Ok(())
}

fn default_type(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().default_type = Some(text.to_owned());
    Ok(())
}

/// `AllowOverride …`
fn allow_override(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let allowed = Overrides::parse(args)?;
    if draft.is_in_regex() {
        draft
            .warn("has no effect in a section with a regular expression, as in httpd: write a <Directory> with a path");
    } else {
        draft.said().allow_override = Some(allowed);
    }
    Ok(())
}

/// `Alias /from /to`, `ScriptAlias /from /to`
fn alias(draft: &mut Draft, args: &[String], script: bool) -> Result<(), String> {
    let from = args[0].clone();
    if !from.starts_with('/') {
        return Err(format!("expected a path that begins with /, got \"{from}\""));
    }
    let to = draft.document_path(&args[1]);
    draft.host().aliases.push(Alias { from: AliasFrom::Prefix(from), to, script });
    Ok(())
}

/// `DirectoryIndex name… | disabled`; a second line of one section adds to the first.
fn directory_index(draft: &mut Draft, args: &[String]) {
    let index = draft.said().directory_index.get_or_insert_default();
    if args.iter().any(|arg| arg == "disabled") {
        index.clear();
    } else {
        index.extend_from_slice(args);
    }
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
    let said = &mut draft.said().options;
    *said = Some(said.as_ref().map_or_else(|| next.clone(), |before| before.then(&next)));
    Ok(())
}

/// `SetHandler name`
fn set_handler(draft: &mut Draft, name: &str) -> Result<(), String> {
    draft.said().handler = Some(handler(draft, name)?);
    Ok(())
}
