//! Variables that a request gets: `%ENV` of programs, conditions of other directives.

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::model::response::expr::Expr;
use crate::config::model::response::setenv::{SetEnvIf, When, parse_change};
use crate::config::model::response::variables::Attribute;
use crate::config::syntax::pattern::Case;
use crate::config::table::row::{ANYWHERE, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "SetEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name [value]", 1..=2, set_env),
        because: "see PerlSetEnv",
        about: "A variable in the environment of programs. Those of SetEnvIf are set before it.",
        ..ROW
    },
    Row {
        name: "UnsetEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name…", 1..=MANY, unset_env),
        because: "see SetEnv",
        about: "Takes back a SetEnv or PassEnv of an outer section.",
        ..ROW
    },
    Row {
        name: "PassEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name…", 1..=MANY, pass_env),
        because: "programs see nothing of the environment that the server was started in",
        about: "As SetEnv, with the value that the variable had when the server was started.",
        ..ROW
    },
    Row {
        name: "SetEnvIf",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("attribute regex [!]name[=value]…", 3..=MANY, |d, args| set_env_if(d, args, Case::Exact)),
        because: "see BrowserMatch",
        about: "Sets variables when the regular expression is found in a header (or in the last of those whose names a pattern like `^X-` is found in), in Remote_Addr, Remote_Host, Server_Addr, Request_Method, Request_Protocol, Request_URI or an earlier variable; `$1` in a value is what its first group found.",
        ..ROW
    },
    Row {
        name: "SetEnvIfNoCase",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("attribute regex [!]name[=value]…", 3..=MANY, |d, args| {
            set_env_if(d, args, Case::Either)
        }),
        because: "see SetEnvIf",
        about: "As SetEnvIf, with letters of either case.",
        ..ROW
    },
    Row {
        name: "SetEnvIfExpr",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("expression [!]name[=value]…", 2..=MANY, set_env_if_expr),
        because: "see SetEnvIf",
        about: "Sets variables when an expression of httpd 2.4 holds: comparisons (`==`, `=~ /x/`, `-eq`, `in {…}`, `-ipmatch`, …) of texts, \
            %{REQUEST_METHOD}, %{REQUEST_URI}, %{QUERY_STRING}, %{REMOTE_ADDR}, %{req:header}, %{reqenv:variable} and others of the \
            request, with `&&`, `||`, `!` and brackets. The same stands behind `expr=`. A name that is not known is an error.",
        ..ROW
    },
    Row {
        name: "BrowserMatch",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("regex [!]name[=value]…", 2..=MANY, |d, args| browser_match(d, args, Case::Exact)),
        because: "today's browsers need no special treatment",
        about: "As SetEnvIf User-Agent. The variable nokeepalive closes the connection after the answer, force-response-1.0 and downgrade-1.0 answer in HTTP/1.0, no-gzip prevents compression.",
        ..ROW
    },
    Row {
        name: "BrowserMatchNoCase",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("regex [!]name[=value]…", 2..=MANY, |d, args| browser_match(d, args, Case::Either)),
        because: "see BrowserMatch",
        about: "As BrowserMatch, with letters of either case.",
        ..ROW
    },
];

/// `SetEnv name [value]`
fn set_env(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.is_looked_at_always()?;
    let value = args.get(1).cloned().unwrap_or_default();
    say(draft, &args[0], Some(value));
    Ok(())
}

/// `UnsetEnv name…`
fn unset_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.is_looked_at_always()?;
        say(draft, name, None);
    }
    Ok(())
}

/// `PassEnv name…`
fn pass_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.is_looked_at_always()?;
        match draft.facts.env.iter().find(|(known, _)| known == name).cloned() {
            Some((name, value)) => say(draft, &name, Some(value)),
            None => draft.warn(&format!("{name} is not in the environment: it is not passed")),
        }
    }
    Ok(())
}

fn say(draft: &mut Draft, name: &str, value: Option<String>) {
    // The last of a name counts: whoever merges sees to it.
    draft.said().response.env.push((name.to_owned(), value));
}

/// `SetEnvIf attribute regex [!]name[=value]…`, `SetEnvIfNoCase`
fn set_env_if(draft: &mut Draft, args: &[String], case: Case) -> Result<(), String> {
    let [attribute, regex, changes @ ..] = args else { return Ok(()) };
    for _ in changes {
        draft.is_looked_at_always()?;
    }
    let rule = SetEnvIf {
        when: When::Found(Attribute::parse(&mut draft.patterns, attribute)?, draft.patterns.compile(regex, case)?),
        changes: changes.iter().map(|change| checked_change(change)).collect::<Result<_, _>>()?,
    };
    draft.said().response.set_env_if.push(rule);
    Ok(())
}

/// `SetEnvIfExpr expression [!]name[=value]…`
fn set_env_if_expr(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [expression, changes @ ..] = args else { return Ok(()) };
    for _ in changes {
        draft.is_looked_at_always()?;
    }
    let rule = SetEnvIf {
        when: When::Holds(Expr::parse(expression, &mut draft.patterns)?),
        changes: changes.iter().map(|change| checked_change(change)).collect::<Result<_, _>>()?,
    };
    draft.said().response.set_env_if.push(rule);
    Ok(())
}

/// `BrowserMatch regex [!]name[=value]…`, `BrowserMatchNoCase`
fn browser_match(draft: &mut Draft, args: &[String], case: Case) -> Result<(), String> {
    let named = [&["User-Agent".to_owned()], args].concat();
    set_env_if(draft, &named, case)
}

/// Many programs send their own requests to where `HTTP_PROXY` says: no client may say it (httpoxy).
fn checked_change(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = parse_change(text);
    if name.eq_ignore_ascii_case("HTTP_PROXY") && value.as_ref().is_some_and(|value| value.contains('$')) {
        return Err(format!(
            "{name} would be a client's word, and programs send their own requests there: write its value"
        ));
    }
    Ok((name, value))
}
