//! Variables that a request gets: `%ENV` of programs, conditions of other directives.

use super::super::pattern::Case;
use super::super::rules::setenv;
use super::{ANYWHERE, Class, Effect, MANY, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "SetEnv",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name [value]", 1..=2, setenv::set_env),
        default: None,
        because: "see PerlSetEnv",
        effect: Effect::Reload,
        about: "A variable in the environment of programs. Those of SetEnvIf are set before it.",
    },
    Row {
        name: "UnsetEnv",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name…", 1..=MANY, setenv::unset_env),
        default: None,
        because: "see SetEnv",
        effect: Effect::Reload,
        about: "Takes back a SetEnv or PassEnv of an outer section.",
    },
    Row {
        name: "PassEnv",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name…", 1..=MANY, setenv::pass_env),
        default: None,
        because: "programs see nothing of the environment that the server was started in",
        effect: Effect::Reload,
        about: "As SetEnv, with the value that the variable had when the server was started.",
    },
    Row {
        name: "SetEnvIf",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("attribute regex [!]name[=value]…", 3..=MANY, |d, args| {
            setenv::set_env_if(d, args, Case::Exact)
        }),
        default: None,
        because: "see BrowserMatch",
        effect: Effect::Reload,
        about: "Sets variables when the regular expression is found in a header (or in the last of those whose names a pattern like `^X-` is found in), in Remote_Addr, Remote_Host, Server_Addr, Request_Method, Request_Protocol, Request_URI or an earlier variable; `$1` in a value is what its first group found.",
    },
    Row {
        name: "SetEnvIfNoCase",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("attribute regex [!]name[=value]…", 3..=MANY, |d, args| {
            setenv::set_env_if(d, args, Case::Either)
        }),
        default: None,
        because: "see SetEnvIf",
        effect: Effect::Reload,
        about: "As SetEnvIf, with letters of either case.",
    },
    Row {
        name: "SetEnvIfExpr",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("expression [!]name[=value]…", 2..=MANY, setenv::set_env_if_expr),
        default: None,
        because: "see SetEnvIf",
        effect: Effect::Reload,
        about: "Sets variables when an expression of httpd 2.4 holds: comparisons (`==`, `=~ /x/`, `-eq`, `in {…}`, `-ipmatch`, …) of texts, \
            %{REQUEST_METHOD}, %{REQUEST_URI}, %{QUERY_STRING}, %{REMOTE_ADDR}, %{req:header}, %{reqenv:variable} and others of the \
            request, with `&&`, `||`, `!` and brackets. The same stands behind `expr=`. A name that is not known is an error.",
    },
    Row {
        name: "BrowserMatch",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("regex [!]name[=value]…", 2..=MANY, |d, args| {
            setenv::browser_match(d, args, Case::Exact)
        }),
        default: None,
        because: "today's browsers need no special treatment",
        effect: Effect::Reload,
        about: "As SetEnvIf User-Agent. The variable nokeepalive closes the connection after the answer, force-response-1.0 and downgrade-1.0 answer in HTTP/1.0, no-gzip prevents compression.",
    },
    Row {
        name: "BrowserMatchNoCase",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("regex [!]name[=value]…", 2..=MANY, |d, args| {
            setenv::browser_match(d, args, Case::Either)
        }),
        default: None,
        because: "see BrowserMatch",
        effect: Effect::Reload,
        about: "As BrowserMatch, with letters of either case.",
    },
];
