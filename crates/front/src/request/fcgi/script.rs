//! The script of a request, as httpd's mod_proxy_fcgi names it to applications.

use base::path::Text;
use config::fcgi::FcgiBackendType;
use config::proxy::Passed;

use crate::request::context::RequestContext;
use crate::request::rewrite::{PartedName, parted};
use crate::routing::{Route, bytes};

/// `SCRIPT_NAME` and its relatives.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// `SCRIPT_NAME`
    pub name: Vec<u8>,
    /// `SCRIPT_FILENAME`
    pub filename: Vec<u8>,
    /// `PATH_INFO`
    pub path_info: Vec<u8>,
    /// The query that a rewrite rule has set.
    pub query: Option<Vec<u8>>,
}

impl Script {
    /// The script for the path that `ProxyPass` or a rule passes on. PHP-FPM splits it; other applications may have the
    /// variable proxy-fcgi-pathinfo do so.
    pub fn of_path(context: &RequestContext, route: &Route, to: &Passed) -> Script {
        let (path, query) = match to.url.path.split_once('?') {
            Some((path, query)) => (path, Some(query.as_bytes().to_vec())),
            None => (&*to.url.path, None),
        };
        let path = if path.is_empty() { "/" } else { path };
        let whole = &route.path[..];
        let kind = context.variables().get("proxy-fcgi-pathinfo").map(str::to_ascii_lowercase);
        let split = kind.as_deref().map_or(path.len(), |kind| split(kind, path));
        let path_info = if kind.is_some() { rest(kind.as_deref(), path, split) } else { Vec::new() };
        let name = whole.strip_suffix(&path_info[..]).unwrap_or(name_before(whole, path, kind.as_deref())).to_vec();
        let filename = match kind.as_deref() {
            Some("full") => path.get(..split).unwrap_or(path).as_bytes().to_vec(),
            _ => filename(route, to, path.as_bytes()),
        };
        Script { name, filename, path_info, query }
    }

    /// The script of a file whose handler is an application. Blocks on the disk.
    pub fn of_file(context: &RequestContext, route: &Route, to: &Passed) -> Script {
        let (file, path_info) = match route.script_length {
            Some(length) if route.resolved => {
                let path_info = route.path.get(length as usize..).unwrap_or_default();
                (bytes(&route.filename).to_vec(), path_info.to_vec())
            }
            _ => of_external(route).unwrap_or_else(|| {
                let PartedName { file, path_info, .. } = parted(context, route);
                (Text::bytes_in(&file).to_vec(), Text::bytes_in(&path_info).to_vec())
            }),
        };
        let (name, path_info, file) = match route.path.strip_suffix(&path_info[..]) {
            Some(name) => (name.to_vec(), path_info, file),
            // After a rewrite rule or alias, the file's PATH_INFO need not be a suffix of the URL path; then it is not
            // split off.
            None => (route.path.clone(), Vec::new(), [file, path_info].concat()),
        };
        let before = to.url.path.trim_end_matches('/').as_bytes();
        Script { name, filename: filename(route, to, &[before, &file].concat()), path_info, query: None }
    }
}

/// The name that FastCgiExternalServer gives the application, which need not be a file, and the path below it.
fn of_external(route: &Route) -> Option<(Vec<u8>, Vec<u8>)> {
    let file = bytes(&route.settings.fcgi.external.as_ref()?.file);
    let path_info = bytes(&route.filename).strip_prefix(file)?;
    (path_info.is_empty() || path_info.starts_with(b"/")).then(|| (file.to_vec(), path_info.to_vec()))
}

/// The length of the script's part of `path` by the variable proxy-fcgi-pathinfo.
fn split(kind: &str, path: &str) -> usize {
    let behind = |dot: Option<usize>| {
        let dot = dot?;
        Some(dot + path.get(dot..)?.find('/')?)
    };
    match kind {
        "first-dot" => behind(path.find('.')).unwrap_or(path.len()),
        "last-dot" => behind(path.rfind('.')).unwrap_or(path.len()),
        "full" => on_disk(path),
        _ => 0,
    }
}

/// The length of the part of `path` that is a file. Blocks on the disk.
fn on_disk(path: &str) -> usize {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    let is_file = |end: &usize| path.get(..*end).is_some_and(|name| std::path::Path::new(name).is_file());
    ends.take(base::path::MAX_SEGMENTS).find(is_file).unwrap_or(path.len())
}

fn rest(kind: Option<&str>, path: &str, split: usize) -> Vec<u8> {
    let rest = path.get(split..).unwrap_or_default();
    match kind {
        Some("first-dot" | "last-dot" | "full") => rest.as_bytes().to_vec(),
        // Every other value: the whole path.
        _ => path.as_bytes().to_vec(),
    }
}

/// `SCRIPT_NAME` where `PATH_INFO` is no end of the path: the part that `ProxyPass` replaced.
fn name_before<'a>(whole: &'a [u8], path: &str, kind: Option<&str>) -> &'a [u8] {
    if kind.is_none() {
        return whole;
    }
    let common = whole.iter().rev().zip(path.bytes().rev()).take_while(|(a, b)| **a == *b).count();
    whole.get(..whole.len() - common).unwrap_or(whole)
}

/// `SCRIPT_FILENAME`, with the beginning that PHP-FPM expects of httpd.
fn filename(route: &Route, to: &Passed, path: &[u8]) -> Vec<u8> {
    match route.settings.fcgi.backend_type.unwrap_or(FcgiBackendType::Fpm) {
        FcgiBackendType::Generic => path.to_vec(),
        FcgiBackendType::Fpm => [b"proxy:fcgi://", to.url.authority.as_bytes(), path].concat(),
    }
}
