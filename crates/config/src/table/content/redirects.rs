//! Aliases by regular expression, redirects, and error documents.

use crate::draft::Draft;
use crate::model::context::{SectionContext, with_merged_slashes};
use crate::model::host::{Alias, AliasFrom};
use crate::model::response::ErrorDocument;
use crate::model::response::expr::ExprText;
use crate::model::response::redirect::{Redirect, RedirectFrom};
use crate::syntax::source::Splitting;
use crate::table::checks::arguments;
use crate::table::row::{FILE_INFO, HOSTS, Row, flag, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_alias.c",
    words("AliasMatch", HOSTS, "regex path", 2..=2, |d, args| alias_match(d, args, false)).because("see Alias"),
    "As Alias, for paths that match the regular expression anywhere; `$1` in the file path is the text of its first \
     group. Tried in order with the Alias lines.",
    words("ScriptAliasMatch", HOSTS, "regex path", 2..=2, |d, args| alias_match(d, args, true))
        .because("see ScriptAlias"),
    "As AliasMatch; files there run as CGI scripts.",
    words("Redirect", FILE_INFO, "[status] [/url-path] [URL]", 1..=3, redirect).because("nothing has moved by default"),
    "Redirects clients, before any Alias is applied: status permanent, temp (default), seeother, gone or a number. The \
     rest of the path, and the query, are appended to the URL. Without a path, in a container: everything in it; the URL may then have expressions, such as \
     `%{env:MATCH_NAME}`.",
    words("RedirectMatch", FILE_INFO, "[status] regex [URL]", 1..=3, redirect_match).because("see Redirect"),
    "As Redirect, for paths that match the regular expression anywhere; `$1` in the URL is the text of its first \
     group.",
    flag("RedirectRelative", FILE_INFO, |d, on| d.settings().response.redirect_relative = Some(on))
        .because("proxies before this server map whole URLs"),
    "Whether Redirect and RedirectMatch send a path of this server as it stands. Otherwise it gets scheme, name and port, \
     which UseCanonicalName chooses.",
    words("RedirectTemp", FILE_INFO, "/url-path URL", 2..=2, |d, args| with_status(d, 302, args))
        .because("see Redirect"),
    "As Redirect temp: status 302.",
    words("RedirectPermanent", FILE_INFO, "/url-path URL", 2..=2, |d, args| with_status(d, 301, args))
        .because("see Redirect"),
    "As Redirect permanent: status 301.",
    words("ErrorDocument", FILE_INFO, "status text|/url-path|URL|default", 2..=2, error_document)
        .of("core.c")
        .split(Splitting::UnclosedText)
        .because("a plain page is enough"),
    "Response in place of an error's plain page: a text, the response of a URL path of this server, or a redirection. \
     Each may have expressions such as `%{REQUEST_URI}`. The URL path gets REDIRECT_STATUS and REDIRECT_URL in its environment.",
];

/// `AliasMatch regex /to/$1`, `ScriptAliasMatch`
fn alias_match(draft: &mut Draft, args: &[String], script: bool) -> Result<(), String> {
    let from = AliasFrom::Match(draft.pattern(&args[0])?);
    let to = draft.document_path(&args[1]);
    draft.host().aliases.push(Alias { from, to, script });
    Ok(())
}

/// `ErrorDocument status text|/path|URL|default`
fn error_document(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [status, answer] = args else { return Ok(()) };
    let number = status.parse().ok().filter(|number| (400..600).contains(number));
    let number = number.ok_or_else(|| format!("expected a status from 400 to 599 first, got \"{status}\""))?;
    let document = ErrorDocument::parse(answer, &mut draft.patterns)?;
    if number == 401 && matches!(document, ErrorDocument::Away(_)) {
        draft
            .warn("has no effect: a redirection for 401 would suppress the password dialog, so the plain page is sent");
        return Ok(());
    }
    draft.settings().response.error_documents.push((number, document));
    Ok(())
}

/// `Redirect [status] [/path] [URL]`
fn redirect(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (status, rest) = leading_status(args)?;
    add(draft, status, rest, |_, path| match path.starts_with('/') {
        true => Ok(RedirectFrom::Prefix(with_merged_slashes(path))),
        false => Err(format!("expected a path that begins with /, got \"{path}\"")),
    })
}

/// `RedirectMatch [status] regex [URL]`
fn redirect_match(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (status, rest) = leading_status(args)?;
    add(draft, status, rest, |draft, regex| draft.pattern(regex).map(RedirectFrom::Match))
}

/// `RedirectTemp /path URL`, `RedirectPermanent /path URL`
fn with_status(draft: &mut Draft, status: u16, args: &[String]) -> Result<(), String> {
    let named = [&[status.to_string()], args].concat();
    redirect(draft, &named)
}

fn leading_status(args: &[String]) -> Result<(u16, &[String]), String> {
    let Some((first, rest)) = args.split_first() else { return Ok((302, args)) };
    let status = match first.to_ascii_lowercase().as_str() {
        "permanent" => 301,
        "temp" => 302,
        "seeother" => 303,
        "gone" => 410,
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => number
            .parse()
            .ok()
            .filter(|number| (300..600).contains(number))
            .ok_or_else(|| format!("expected a status from 300 to 599, got \"{number}\""))?,
        _ => return Ok((302, args)),
    };
    Ok((status, rest))
}

fn add(
    draft: &mut Draft,
    status: u16,
    rest: &[String],
    from: impl Fn(&mut Draft, &str) -> Result<RedirectFrom, String>,
) -> Result<(), String> {
    let goes_away = (300..400).contains(&status);
    let everything = match draft.position.context {
        SectionContext::Location => RedirectFrom::Location,
        _ => RedirectFrom::Everything,
    };
    let (from, to) = match rest {
        [to] if goes_away && draft.is_in_container() => (everything, Some(to)),
        [] if !goes_away && draft.is_in_container() => (everything, None),
        [path, to] if goes_away => (from(draft, path)?, Some(to)),
        [path] if !goes_away => (from(draft, path)?, None),
        _ if goes_away => return Err(format!("expected a path and a URL, got {}", arguments(rest.len()))),
        _ => return Err(format!("expected a path and no URL: status {status} is no redirection")),
    };
    if let Some(to) = to.filter(|to| !to.starts_with('/') && !to.starts_with('$') && !to.contains(':')) {
        return Err(format!("expected a URL like http://host/path or a path that begins with /, got \"{to}\""));
    }
    let expr = match (&from, to) {
        (RedirectFrom::Everything | RedirectFrom::Location, Some(to)) if to.contains("%{") => {
            Some(ExprText::parse(to, &mut draft.patterns)?)
        }
        _ => None,
    };
    let redirect = Redirect { from, to: to.cloned(), expr, status };
    match draft.is_in_container() {
        true => draft.settings().response.redirects.push(redirect),
        false => draft.host().redirects.push(redirect),
    }
    Ok(())
}
