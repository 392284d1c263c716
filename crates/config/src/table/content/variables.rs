//! Variables of a request: `%ENV` of programs, and conditions of other directives.

use crate::draft::Draft;
use crate::model::response::expr::Expr;
use crate::model::response::setenv::{SetEnvCondition, SetEnvIf, parse_change};
use crate::model::response::variables::Attribute;
use crate::syntax::pattern::Case;
use crate::table::row::{FILE_INFO, MANY, Row, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_setenvif.c",
    words("SetEnv", FILE_INFO, "name [value]", 1..=2, set_env).of("mod_env.c").because("see PerlSetEnv"),
    "Sets a variable in the environment of programs. SetEnvIf variables are set earlier.",
    words("UnsetEnv", FILE_INFO, "name…", 1..=MANY, unset_env).of("mod_env.c").because("see SetEnv"),
    "Cancels a SetEnv or PassEnv of an outer section.",
    words("PassEnv", FILE_INFO, "name…", 1..=MANY, pass_env)
        .of("mod_env.c")
        .because("programs see no variables of the server's own environment"),
    "As SetEnv, with the value of the variable in the server's environment at its start.",
    words("SetEnvIf", FILE_INFO, "attribute regex [!]name[=value]…", 3..=MANY, |d, args| set_env_if(
        d,
        args,
        Case::Exact
    ))
    .because("see BrowserMatch"),
    "Sets variables when the regular expression matches a header (or the last header whose name matches a pattern like \
     `^X-`), Remote_Addr, Remote_Host, Server_Addr, Request_Method, Request_Protocol, Request_URI or a variable set \
     earlier; `$1` in a value is the text of its first group.",
    words("SetEnvIfNoCase", FILE_INFO, "attribute regex [!]name[=value]…", 3..=MANY, |d, args| {
        set_env_if(d, args, Case::Either)
    })
    .because("see SetEnvIf"),
    "As SetEnvIf, ignoring case.",
    words("SetEnvIfExpr", FILE_INFO, "expression [!]name[=value]…", 2..=MANY, set_env_if_expr).because("see SetEnvIf"),
    "Sets variables when an expression of httpd 2.4 is true. Comparisons are `==`, `=~ /x/`, `-eq`, `in {…}`, \
     `-ipmatch` and others, joined by `&&`, `||`, `!` and parentheses. Operands are texts, %{REQUEST_METHOD}, \
     %{REQUEST_URI}, %{QUERY_STRING}, %{REMOTE_ADDR}, %{req:header}, %{reqenv:variable} and others. `expr=` conditions \
     use the same syntax. An unknown name is an error.",
    words("BrowserMatch", FILE_INFO, "regex [!]name[=value]…", 2..=MANY, |d, args| {
        browser_match(d, args, Case::Exact)
    })
    .because("current browsers need no special treatment"),
    "As SetEnvIf User-Agent. The variable nokeepalive closes the connection after the response, force-response-1.0 and \
     downgrade-1.0 cause an HTTP/1.0 response, no-gzip prevents compression.",
    words("BrowserMatchNoCase", FILE_INFO, "regex [!]name[=value]…", 2..=MANY, |d, args| browser_match(
        d,
        args,
        Case::Either
    ))
    .because("see BrowserMatch"),
    "As BrowserMatch, ignoring case.",
];

/// `SetEnv name [value]`
fn set_env(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.charge_rule()?;
    let value = args.get(1).cloned().unwrap_or_default();
    set(draft, &args[0], Some(value));
    Ok(())
}

/// `UnsetEnv name…`
fn unset_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.charge_rule()?;
        set(draft, name, None);
    }
    Ok(())
}

/// `PassEnv name…`
fn pass_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.charge_rule()?;
        match draft.facts.env.iter().find(|(known, _)| known == name).cloned() {
            Some((name, value)) => set(draft, &name, Some(value)),
            None => draft.warn(&format!("{name} is not in the server's environment and is not passed")),
        }
    }
    Ok(())
}

fn set(draft: &mut Draft, name: &str, value: Option<String>) {
    // The merge of sections lets the last value of a name win.
    draft.settings().response.env.push((name.to_owned(), value));
}

/// `SetEnvIf attribute regex [!]name[=value]…`, `SetEnvIfNoCase`
fn set_env_if(draft: &mut Draft, args: &[String], case: Case) -> Result<(), String> {
    let [attribute, regex, changes @ ..] = args else { return Ok(()) };
    for _ in changes {
        draft.charge_rule()?;
    }
    let rule = SetEnvIf {
        when: SetEnvCondition::Found(
            Attribute::parse(&mut draft.patterns, attribute)?,
            draft.patterns.compile(regex, case)?,
        ),
        changes: changes.iter().map(|change| checked_change(change)).collect::<Result<_, _>>()?,
    };
    draft.settings().response.set_env_if.push(rule);
    Ok(())
}

/// `SetEnvIfExpr expression [!]name[=value]…`
fn set_env_if_expr(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [expression, changes @ ..] = args else { return Ok(()) };
    for _ in changes {
        draft.charge_rule()?;
    }
    let rule = SetEnvIf {
        when: SetEnvCondition::Holds(Expr::parse(expression, &mut draft.patterns)?),
        changes: changes.iter().map(|change| checked_change(change)).collect::<Result<_, _>>()?,
    };
    draft.settings().response.set_env_if.push(rule);
    Ok(())
}

/// `BrowserMatch regex [!]name[=value]…`, `BrowserMatchNoCase`
fn browser_match(draft: &mut Draft, args: &[String], case: Case) -> Result<(), String> {
    let named = [&["User-Agent".to_owned()], args].concat();
    set_env_if(draft, &named, case)
}

/// A change of a variable. `HTTP_PROXY` must not come from a request: many programs send their own requests to it
/// (httpoxy).
fn checked_change(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = parse_change(text);
    if name.eq_ignore_ascii_case("HTTP_PROXY") && value.as_ref().is_some_and(|value| value.contains('$')) {
        return Err(format!(
            "{name} must not depend on the request, because programs send their own requests there; write a fixed value"
        ));
    }
    Ok((name, value))
}
