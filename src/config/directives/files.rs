//! From URL paths to files, and what those are.

use super::super::draft::Draft;
use super::super::overrides::{self, Class};
use super::super::site;
use super::{ANYWHERE, DIRECTORY, Effect, HOSTS, MANY, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "DocumentRoot",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("path", |d, path| {
            d.host().document_root = d.document_path(path);
            Ok(())
        }),
        default: Some("htdocs"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "The folder of the files of the site. A virtual host inherits it.",
    },
    Row {
        name: "Alias",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("/url-path path", 2..=2, |d, args| site::alias(d, args, false)),
        default: None,
        because: "everything lies below DocumentRoot",
        effect: Effect::Reload,
        about: "What is below the URL path lies in another place. The first that matches counts, a virtual host's before the main server's.",
    },
    Row {
        name: "ScriptAlias",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("/url-path path", 2..=2, |d, args| site::alias(d, args, true)),
        default: None,
        because: "no folder is executable by itself",
        effect: Effect::Reload,
        about: "As Alias; what lies there is run as a CGI script, whatever SetHandler and Options say.",
    },
    Row {
        name: "DefaultType",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("type|None", default_type),
        default: Some("None"),
        because: "httpd's since 2.4: no Content-Type is better than a wrong one",
        effect: Effect::Reload,
        about: "The MIME type of files whose extension is unknown.",
    },
    Row {
        name: "DirectoryIndex",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("name…|disabled", 1..=MANY, |d, names| {
            site::directory_index(d, names);
            Ok(())
        }),
        default: Some("index.html"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "The files tried, in this order, when a folder is asked for. One that begins with `/` is a path of the site, to which the request \
            goes on.",
    },
    Row {
        name: "Options",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::OPTIONS),
        takes: Takes::Words("[+|-]name…", 1..=MANY, site::options),
        default: Some("FollowSymLinks"),
        because: "httpd's: a link in the site was put there by its owner",
        effect: Effect::Reload,
        about: "ExecCGI, FollowSymLinks, SymLinksIfOwnerMatch, Indexes, All, None. With `+` and `-` the outer options are changed, \
            otherwise replaced. What `<Location>` says of links is ignored, as in httpd: say it in `<Directory>`.",
    },
    Row {
        name: "AllowOverride",
        aliases: &[],
        contexts: DIRECTORY,
        takes: Takes::Words(
            "All|None|AuthConfig|FileInfo|Indexes|Limit|Options[=name,…]…",
            1..=MANY,
            overrides::allow_override,
        ),
        default: Some("None"),
        because: "httpd's since 2.4 (1.3 had All): files that nobody expects are not read",
        effect: Effect::Reload,
        about: "Which directives the .htaccess files of this folder and those below may hold; with None there is none. They are read \
            once and watched: a change counts at once. A mistake in one is a line in the error log and a 500 for what lies below it.",
    },
    Row {
        name: "AccessFileName",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("name…", 1..=MANY, access_file_name),
        default: Some(".htaccess"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "What .htaccess files are called; the first that a folder has counts. Nobody is ever shown one.",
    },
    Row {
        name: "SetHandler",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word(
            "perl-script|cgi-script|psgi|server-status|server-info|send-as-is|default-handler|name",
            site::set_handler,
        ),
        default: Some("default-handler"),
        because: "what is not handed to a program is a file",
        effect: Effect::Reload,
        about: "Who answers: the PerlHandler list, a CGI script kept compiled, the PsgiApp, a page about the server (mod_status's or \
            mod_info's), a file with headers of its own, or the file itself. `None` is default-handler. For any other name an Action \
            says it; where none does, requests are answered 500 with a line in the error log. In .htaccess files the two pages are \
            not allowed.",
    },
];

fn access_file_name(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    if let Some(path) = names.iter().find(|name| name.contains('/')) {
        return Err(format!("expected names of files, got the path \"{path}\""));
    }
    draft.host().access_file_names = names.to_vec();
    Ok(())
}

fn default_type(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().default_type = Some(text.to_owned());
    Ok(())
}
