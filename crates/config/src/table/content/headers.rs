//! Headers of requests and responses.

use crate::draft::Draft;
use crate::model::response::expires::ExpirySpan;
use crate::model::response::headers::{HeaderChange, HeaderRule, HeaderValue};
use crate::model::response::setenv::EnvCondition;
use crate::syntax::pattern::Case;
use crate::table::checks::arguments;
use crate::table::row::{FILE_INFO, INDEXES, Row, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_expires.c",
    words(
        "Header",
        FILE_INFO,
        "[always] set|append|merge|add|unset|echo|edit|note name [value] [early|env=[!]name|expr=expression]",
        2..=6,
        header
    )
    .of("mod_headers.c")
    .because("responses have the necessary headers"),
    "Changes a header of responses. As in httpd, headers are in two tables, and both are sent: with `always` the second, \
     which errors have too, and where headers of scripts, of FastCGI and of `err_headers_out` are. \
     A rule of either table reaches the headers of a PSGI application, `Set-Cookie` too: under httpd their table depends on \
     the server of the application and on the status, and a rule for security must not depend on that. `note` copies it to a note, for `%{name}n` of a LogFormat and \
     for expressions. `%t` is the time of the request, `%D` its duration, \
     `%l` the load averages, `%i` and `%b` the percentage of idle and busy workers, `%{name}e` a variable, `%{SSL_name}s` a variable of mod_ssl; a value that begins with `expr=` is a text of expressions.",
    words(
        "RequestHeader",
        FILE_INFO,
        "set|append|merge|add|unset|edit name [value] [early|env=[!]name|expr=expression]",
        2..=5,
        request_header
    )
    .of("mod_headers.c")
    .because("programs see the headers that the client sent"),
    "Changes a header of requests before a program sees it.",
    flag("ExpiresActive", INDEXES, |d, on| d.settings().response.expires.active = Some(on))
        .because("only the site knows how long its pages stay fresh"),
    "Whether Expires and Cache-Control are added to responses that have no Expires.",
    words("ExpiresByType", INDEXES, "type time", 2..=2, expires_by_type).because("see ExpiresDefault"),
    "Freshness lifetime of responses of a MIME type, or of a family like `image/*`.",
    word("ExpiresDefault", INDEXES, "time", expires_default).because("see ExpiresActive"),
    "Freshness lifetime of other responses: `A3600` or `access plus 1 hour` from now on, `M3600` or `modification plus \
     1 hour` from the last change of the file.",
];

/// `ExpiresByType type time`
fn expires_by_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [kind, time] = args else { return Ok(()) };
    let span = ExpirySpan::parse(time)?;
    draft.settings().response.expires.by_type.push((kind.to_ascii_lowercase(), span));
    Ok(())
}

/// `ExpiresDefault time`
fn expires_default(draft: &mut Draft, time: &str) -> Result<(), String> {
    draft.settings().response.expires.default = Some(ExpirySpan::parse(time)?);
    Ok(())
}

/// `Header [always|onsuccess] action name [value [replacement]] [early|env=…]`
pub fn header(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (always, rest) = match args.split_first() {
        Some((word, rest)) if word.eq_ignore_ascii_case("always") => (true, rest),
        Some((word, rest)) if word.eq_ignore_ascii_case("onsuccess") => (false, rest),
        _ => (false, args),
    };
    let rule = header_rule(draft, rest)?;
    draft.settings().response.headers.push(HeaderRule { always, ..rule });
    Ok(())
}

/// `RequestHeader action name [value [replacement]] [early|env=…]`
fn request_header(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let rule = header_rule(draft, args)?;
    if matches!(rule.action, HeaderChange::Echo(_) | HeaderChange::Note(_)) {
        return Err(format!("{} applies to responses; write Header {0}", args.first().map_or("", String::as_str)));
    }
    draft.settings().response.request_headers.push(rule);
    Ok(())
}

fn header_rule(draft: &mut Draft, args: &[String]) -> Result<HeaderRule, String> {
    let [action, name, rest @ ..] = args else {
        return Err(format!("expected an action and the name of a header, got {}", arguments(args.len())));
    };
    let values = match action.to_ascii_lowercase().as_str() {
        "unset" | "echo" => 0,
        "set" | "setifempty" | "append" | "merge" | "add" | "note" => 1,
        "edit" | "edit*" => 2,
        _ => return Err(unknown_action(action)),
    };
    let Some((given, rest)) = rest.split_at_checked(values) else {
        let values = if values == 1 { "a value" } else { "a regular expression and its replacement" };
        return Err(format!("{action}: expected {values} after {name}"));
    };
    let (early, condition) = match rest {
        [] => (false, None),
        [word] if word.eq_ignore_ascii_case("early") => (true, None),
        [word] => (false, Some(EnvCondition::parse(word, &mut draft.patterns)?)),
        _ => return Err("put a value with spaces in quotation marks".to_owned()),
    };
    draft.charge_rule()?;
    let action = header_action(draft, action, name, given)?;
    let written = name.trim_end_matches(':').to_owned();
    let name = written.to_ascii_lowercase();
    let is_echo = matches!(action, HeaderChange::Echo(_));
    if !is_echo && !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)) {
        return Err(format!("expected the name of a header, got \"{name}\""));
    }
    Ok(HeaderRule { action, name, written, always: false, early, condition })
}

fn unknown_action(word: &str) -> String {
    format!("expected set, setifempty, append, merge, add, unset, echo, note, edit or edit*, got \"{word}\"")
}

fn header_action(draft: &mut Draft, word: &str, name: &str, given: &[String]) -> Result<HeaderChange, String> {
    let word = word.to_ascii_lowercase();
    Ok(match (word.as_str(), given) {
        ("set", [value]) => HeaderChange::Set(HeaderValue::parse(value, &mut draft.patterns)?),
        ("setifempty", [value]) => HeaderChange::SetIfEmpty(HeaderValue::parse(value, &mut draft.patterns)?),
        ("append", [value]) => HeaderChange::Append(HeaderValue::parse(value, &mut draft.patterns)?),
        ("merge", [value]) => HeaderChange::Merge(HeaderValue::parse(value, &mut draft.patterns)?),
        ("add", [value]) => HeaderChange::Add(HeaderValue::parse(value, &mut draft.patterns)?),
        ("unset", []) => HeaderChange::Unset,
        ("note", [note]) => HeaderChange::Note(note.clone()),
        ("echo", []) => HeaderChange::Echo(draft.patterns.compile(name, Case::Either)?),
        ("edit" | "edit*", [pattern, by]) => {
            let pattern = draft.pattern(pattern)?;
            HeaderChange::Edit { pattern, by: HeaderValue::parse(by, &mut draft.patterns)?, all: word.ends_with('*') }
        }
        _ => return Err(unknown_action(&word)),
    })
}
