//! `Redirect`, `RedirectMatch` and their relatives.

use super::super::draft::Draft;
use super::super::pattern::Pattern;
use super::super::translate::rest_below;

/// A longer address is one that no browser follows.
const LONGEST: usize = 64 << 10;

/// One line.
#[derive(Debug, Clone)]
pub struct Redirect {
    from: From,
    /// `None` for a status that is no redirection.
    to: Option<String>,
    status: u16,
}

#[derive(Debug, Clone)]
enum From {
    /// Without a path, in a container: all that the container is for.
    Everything,
    Prefix(String),
    Match(Pattern),
}

/// What a redirected client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// 301, 410, …
    pub status: u16,
    /// Where to go, without the request's query; `None` for a status that is no redirection.
    pub location: Option<String>,
}

impl Redirect {
    /// The answer for a decoded path; `escape` makes a part of it fit for a URL again.
    pub fn answer(&self, path: &str, escape: &dyn Fn(&str) -> String) -> Option<Answer> {
        let to = self.to.as_deref().unwrap_or_default();
        let location = match &self.from {
            From::Everything => to.to_owned(),
            From::Prefix(prefix) => format!("{to}{}", escape(rest_below(prefix, path)?)),
            From::Match(regex) => match regex.find(path)?.expand(to, escape, LONGEST) {
                Ok(location) => location,
                Err(_) => return Some(Answer { status: 500, location: None }),
            },
        };
        Some(Answer { status: self.status, location: self.to.is_some().then_some(location) })
    }
}

/// `Redirect [status] [/path] [URL]`
pub fn redirect(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (status, rest) = leading_status(args)?;
    add(draft, status, rest, |_, path| match path.starts_with('/') {
        true => Ok(From::Prefix(path.to_owned())),
        false => Err(format!("expected a path that begins with /, got \"{path}\"")),
    })
}

/// `RedirectMatch [status] regex [URL]`
pub fn redirect_match(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (status, rest) = leading_status(args)?;
    add(draft, status, rest, |draft, regex| draft.pattern(regex).map(From::Match))
}

/// `RedirectTemp /path URL`, `RedirectPermanent /path URL`
pub fn with_status(draft: &mut Draft, status: u16, args: &[String]) -> Result<(), String> {
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
    from: impl Fn(&mut Draft, &str) -> Result<From, String>,
) -> Result<(), String> {
    let goes_away = (300..400).contains(&status);
    let (from, to) = match rest {
        [to] if goes_away && draft.is_in_container() => (From::Everything, Some(to)),
        [] if !goes_away && draft.is_in_container() => (From::Everything, None),
        [path, to] if goes_away => (from(draft, path)?, Some(to)),
        [path] if !goes_away => (from(draft, path)?, None),
        _ if goes_away => return Err("expected a path and the URL that takes its place".to_owned()),
        _ => return Err(format!("expected a path and no URL: with status {status} there is nowhere to go")),
    };
    if let Some(to) = to.filter(|to| !to.starts_with('/') && !to.starts_with('$') && !to.contains(':')) {
        return Err(format!("expected a URL like http://host/path or a path that begins with /, got \"{to}\""));
    }
    let redirect = Redirect { from, to: to.cloned(), status };
    match draft.is_in_container() {
        true => draft.said().rules.redirects.push(redirect),
        false => draft.host().redirects.push(redirect),
    }
    Ok(())
}
