//! Other places, and pages for errors.

use super::super::rules::{error_document, redirect};
use super::super::site;
use super::{ANYWHERE, Class, Effect, HOSTS, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "AliasMatch",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("regex path", 2..=2, |d, args| site::alias_match(d, args, false)),
        default: None,
        because: "see Alias",
        effect: Effect::Reload,
        about: "As Alias, for paths in which the regular expression is found; `$1` in the file's path is what its first group found. Takes its turn among the Alias lines.",
    },
    Row {
        name: "ScriptAliasMatch",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("regex path", 2..=2, |d, args| site::alias_match(d, args, true)),
        default: None,
        because: "see ScriptAlias",
        effect: Effect::Reload,
        about: "As AliasMatch; what lies there is run as a CGI script.",
    },
    Row {
        name: "Redirect",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[status] [/url-path] [URL]", 1..=3, redirect::redirect),
        default: None,
        because: "everything is where it is asked for",
        effect: Effect::Reload,
        about: "Sends clients elsewhere, before any Alias: status permanent, temp (usual), seeother, gone or a number. What follows the path is put behind the URL, and the query, too. Without a path, in a container: all of it.",
    },
    Row {
        name: "RedirectMatch",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[status] regex [URL]", 1..=3, redirect::redirect_match),
        default: None,
        because: "see Redirect",
        effect: Effect::Reload,
        about: "As Redirect, for paths in which the regular expression is found; `$1` in the URL is what its first group found.",
    },
    Row {
        name: "RedirectTemp",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("/url-path URL", 2..=2, |d, args| redirect::with_status(d, 302, args)),
        default: None,
        because: "see Redirect",
        effect: Effect::Reload,
        about: "As Redirect temp: status 302.",
    },
    Row {
        name: "RedirectPermanent",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("/url-path URL", 2..=2, |d, args| redirect::with_status(d, 301, args)),
        default: None,
        because: "see Redirect",
        effect: Effect::Reload,
        about: "As Redirect permanent: status 301.",
    },
    Row {
        name: "ErrorDocument",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("status text|/url-path|URL|default", 2..=2, error_document::set),
        default: None,
        because: "a plain page says what is needed",
        effect: Effect::Reload,
        about: "What is answered in place of an error's plain page: a text, what a path of this server answers (it finds REDIRECT_STATUS and REDIRECT_URL in its environment), or a redirection.",
    },
];
