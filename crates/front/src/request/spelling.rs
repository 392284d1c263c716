//! `CheckSpelling`: redirects a request for a missing file to the one with a similar name (httpd manual, mod_speling).

use std::fmt::Write;
use std::rc::Rc;

use http::header::{HOST, HeaderValue, LOCATION};
use http::request::Parts;
use http::{Method, StatusCode};
use percent_encoding::percent_encode;

use super::context::RequestContext;
use super::files::lookup::{MissingName, missing_name, refusal};
use super::files::visible::FolderView;
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::generation::View;
use crate::routing::{NotYet, Route, port_of};
use base::path::PATH;
use config::response::lookup::spelling::Spelling;
use files::open::{Links, PathWithLinks, root};

/// Maximum number of names in a list of similar ones.
const MAX_NAMES: usize = 100;

/// How a name differs from the one that is asked for, the smallest difference first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Case,
    Exchanged,
    Missing,
    Extra,
    Wrong,
    Extension,
}

impl Difference {
    fn text(self) -> &'static str {
        match self {
            Difference::Case => "miscapitalized",
            Difference::Exchanged => "transposed characters",
            Difference::Missing => "character missing",
            Difference::Extra => "extra character",
            Difference::Wrong => "mistyped character",
            Difference::Extension => "common basename",
        }
    }
}

/// A name in the folder that the client may have meant.
struct Similar {
    difference: Difference,
    /// Path of the name; PATH_INFO is added to the names that may be listed.
    path: Vec<u8>,
    name: String,
    is_folder: bool,
}

/// The `Err` is a redirect to the only similar name, or a list of several. `Ok`: there is none, or the rules are off.
pub async fn correct(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    let rules = &route.settings.response.spelling;
    let applies = matches!(head.method, Method::GET | Method::HEAD) && !context.is_subrequest();
    if rules.on != Some(true) || !applies {
        return Ok(());
    }
    let generation = &context.generation;
    let missing = generation.wait_for(|| Ok(missing_name(generation, route))).await?;
    let Some(missing) = missing else { return Ok(()) };
    let mut found = generation.wait_for(|| similar(generation, route, &missing)).await?;
    found.sort_by(|one, other| (one.difference, &one.name).cmp(&(other.difference, &other.name)));
    found.truncate(MAX_NAMES);
    // PATH_INFO may be long, so only the names that may be listed get it.
    found.iter_mut().for_each(|similar| similar.path.extend_from_slice(missing.path_info));
    // Each name is judged as an entry of its folder: sections for its own path and file apply.
    let mut folder = (**route).clone();
    (folder.path, folder.filename) = (missing.folder_path.to_vec(), missing.folder.to_path_buf());
    let view = FolderView::of(context, &folder);
    let mut shown = Vec::new();
    for similar in found {
        // Names that the client may not read stay unknown.
        if generation.wait_for(|| view.shows(similar.name.as_bytes(), similar.is_folder)).await? {
            shown.push(similar);
        }
    }
    let only = match shown.as_slice() {
        [] => return Ok(()),
        [first] => Some(first),
        [first, second, ..] => Some(first).filter(|first| first.difference < second.difference),
    };
    match only.filter(|only| only.difference != Difference::Extension) {
        Some(only) => Err(redirect(context, head, &only.path)),
        None => Err(list(&shown)),
    }
}

fn similar(generation: &View, route: &Route, missing: &MissingName<'_>) -> Result<Vec<Similar>, NotYet> {
    let rules = &route.settings.response.spelling;
    let root = root(&generation.config, route.host, missing.folder);
    let way = PathWithLinks { root, path: missing.folder, links: Links::of(route.settings.options) };
    let names = generation.opener.names(way).map_err(refusal)?;
    let mut found = Vec::new();
    for (name, is_folder) in names.all() {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        if let Some(difference) = difference(missing.name, name, rules) {
            let path = [missing.folder_path, name.as_bytes()].concat();
            found.push(Similar { difference, path, name: name.to_owned(), is_folder });
        }
    }
    Ok(found)
}

fn difference(requested: &str, name: &str, rules: &Spelling) -> Option<Difference> {
    if requested.eq_ignore_ascii_case(name) {
        return Some(Difference::Case);
    }
    let typo = if rules.case_only == Some(true) { None } else { typo(requested.as_bytes(), name.as_bytes()) };
    let base = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let has_base = rules.basename != Some(false) && base(requested) == base(name);
    typo.or_else(|| has_base.then_some(Difference::Extension))
}

/// The one typing error by which `requested` differs from `name`.
fn typo(requested: &[u8], name: &[u8]) -> Option<Difference> {
    let same = requested.iter().zip(name).take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count();
    let (requested, name) = (requested.get(same..)?, name.get(same..)?);
    match (requested, name) {
        ([a, b, requested @ ..], [c, d, name @ ..])
            if a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c) && requested.eq_ignore_ascii_case(name) =>
        {
            Some(Difference::Exchanged)
        }
        ([_, requested @ ..], [_, name @ ..]) if requested.eq_ignore_ascii_case(name) => Some(Difference::Wrong),
        ([_, rest @ ..], name) if rest.eq_ignore_ascii_case(name) => Some(Difference::Extra),
        (requested, [_, rest @ ..]) if requested.eq_ignore_ascii_case(rest) => Some(Difference::Missing),
        _ => None,
    }
}

/// The redirect to `path`, with the query of the request.
fn redirect(context: &RequestContext, head: &Parts, path: &[u8]) -> Refusal {
    let host = context.route().as_ref().map(|route| (route.host, route.server_name.clone()));
    let Some((host, name)) = host else { return Refusal::new(StatusCode::NOT_FOUND) };
    let (scheme, usual) = if context.is_secure() { ("https", 443) } else { ("http", 80) };
    let sent = head.headers.get(HOST).and_then(|host| port_of(host.to_str().ok()?));
    let own = context.generation.config.hosts.get(usize::from(host)).and_then(|host| host.server_port);
    let port = sent.or(own).filter(|port| *port != usual).map(|port| format!(":{port}")).unwrap_or_default();
    let query = target::query(head).map(|query| format!("?{}", String::from_utf8_lossy(query))).unwrap_or_default();
    let location = format!("{scheme}://{name}{port}{}{query}", percent_encode(path, PATH));
    match HeaderValue::from_str(&location) {
        Ok(location) => Refusal::with(StatusCode::MOVED_PERMANENTLY, LOCATION, location),
        Err(_) => Refusal::new(StatusCode::NOT_FOUND),
    }
}

/// The list of several similar names.
fn list(similar: &[Similar]) -> Refusal {
    let mut list = "Available documents:\n<ul>\n".to_owned();
    for similar in similar {
        let path = percent_encode(&similar.path, PATH).to_string();
        let path = path.replace('&', "&amp;").replace('\'', "&#39;");
        let _ = writeln!(list, "<li><a href=\"{path}\">{path}</a> ({})", similar.difference.text());
    }
    list.push_str("</ul>\n");
    Refusal::new(StatusCode::MULTIPLE_CHOICES).listing(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_named() {
        let rules = Spelling::default();
        for (requested, name, expected) in [
            ("EXAMPLE.html", "example.html", Some(Difference::Case)),
            ("exanple.html", "example.html", Some(Difference::Wrong)),
            ("exaample.html", "example.html", Some(Difference::Extra)),
            ("exmple.html", "example.html", Some(Difference::Missing)),
            ("exmaple.html", "example.html", Some(Difference::Exchanged)),
            ("pic.jpg", "pic.gif", Some(Difference::Extension)),
            ("exnaplee.txt", "example.html", None),
            ("", "a", Some(Difference::Missing)),
        ] {
            assert_eq!(difference(requested, name, &rules), expected, "{requested}");
        }
        let case_only = Spelling { case_only: Some(true), basename: Some(false), ..rules };
        assert_eq!(difference("exmple.html", "example.html", &case_only), None);
    }
}
