//! Static files, sent by the front without a worker (RFC 9110, sections 8.8, 13 and 14; httpd's core, mod_dir,
//! mod_mime, mod_autoindex and mod_asis).
//! `find` looks up a path and its handler; `send` builds the response. Files with a script or Perl handler go to a
//! worker, so that their source is never sent.

mod as_is;
pub mod autoindex;
mod conditional;
pub mod lookup;
mod mime;
mod precompressed;
pub mod range;
pub mod similar;
pub mod visible;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED, LOCATION, RANGE,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use percent_encoding::percent_encode;

use super::context::RequestContext;
use super::includes::facts::{self, PageFile};
use super::respond::body::{BodySource, FileBody, Segment};
use super::respond::packed_files;
use crate::base::refusal::Refusal;
use crate::generation::View;
use crate::routing::{Fields, FoundFile, NotYet, Route, server_name};
use base::path::PATH;
use base::stamp::Stamp;
use conditional::{Validators, Verdict};
use config::response::PathInfo;
use config::response::ranges::Ranges;
use config::{Config, Handler};
use files::open::{Links, OpenedFile};
use lookup::{Spot, is_folder, locate, refusal, reopen};
pub use mime::is_type_map;
use precompressed::FileVariant;
use range::Wanted;

/// The methods allowed on files and folder indexes.
pub const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// The result of a path's lookup.
pub enum LookupResult {
    /// A file to send.
    File(Rc<Route>, OpenedFile),
    /// A file with a PATH_INFO that its handler does not accept; answered with a 404.
    Beyond(Rc<Route>),
    /// A file with a handler that a worker runs (`<Files *.cgi>`).
    Handled(Rc<Route>),
    /// A folder whose contents may be listed.
    Folder(OpenedFile),
    /// A redirect to the folder's path with a trailing slash.
    Response(Response<BodySource>),
    /// An internal redirect to this path on the site: a folder's index or a fallback resource.
    Index(String),
}

impl LookupResult {
    /// The route of the file, if one was found.
    pub fn file(&self) -> Option<&Rc<Route>> {
        match self {
            LookupResult::File(route, _) | LookupResult::Beyond(route) | LookupResult::Handled(route) => Some(route),
            LookupResult::Response(_) | LookupResult::Folder(_) | LookupResult::Index(_) => None,
        }
    }

    /// The route of the file, in order to replace it.
    pub fn file_mut(&mut self) -> Option<&mut Rc<Route>> {
        match self {
            LookupResult::File(route, _) | LookupResult::Beyond(route) | LookupResult::Handled(route) => Some(route),
            LookupResult::Response(_) | LookupResult::Folder(_) | LookupResult::Index(_) => None,
        }
    }

    /// Leaves a file to the worker if the handler of its current route runs there.
    pub fn follow_handler(&mut self) {
        if let LookupResult::File(route, _) = self
            && !route.is_static()
        {
            *self = LookupResult::Handled(route.clone());
        }
    }
}

/// The route of a worker's file, refined by its `<Files>` sections and its extension. `None`: the path alone decides
/// the settings, so that the file system need not be searched for the file in the path.
pub fn behind(generation: &View, route: &Route) -> Result<Option<Rc<Route>>, NotYet> {
    match (route.ambiguous || route.settings.handler_depends_on_the_file())
        .then(|| locate(generation, route, &route.filename))
    {
        Some(Ok(Spot::File(spot))) => Ok(Some(generation.routes.refine(&generation.config, route, spot.found())?)),
        _ => Ok(None),
    }
}

/// Whether the path of `route` is that of a folder with an index, or lacks the slash of a folder.
pub fn leads_to_an_index(generation: &View, route: &Route) -> bool {
    match locate(generation, route, &route.filename) {
        Ok(Spot::File(spot)) => spot.path != route.path,
        Ok(Spot::NoSlash | Spot::Elsewhere(_) | Spot::Moved(..)) => true,
        Ok(Spot::Folder(_)) | Err(_) => false,
    }
}

/// Looks up the file of `route` and its handler.
pub fn find(generation: &View, route: &Rc<Route>, head: &Parts) -> Result<LookupResult, NotYet> {
    if route.settings.needs_perl_for_folders() && is_folder(generation, route) {
        route.refused()?;
        return Ok(LookupResult::Handled(route.clone()));
    }
    let spot = match locate(generation, route, &route.filename) {
        Ok(Spot::File(spot)) => spot,
        Ok(Spot::NoSlash) => return Ok(LookupResult::Response(redirect(generation, route, head.uri.query()))),
        Ok(Spot::Folder(folder)) => return Ok(LookupResult::Folder(folder)),
        Ok(Spot::Elsewhere(path)) => return Ok(LookupResult::Index(path)),
        Ok(Spot::Moved(status, path)) => return Ok(LookupResult::Response(moved(generation, route, (status, path)))),
        Err(refusal) => match route.settings.response.fallback(&route.path) {
            Some(fallback) if refusal.status == StatusCode::NOT_FOUND => {
                return Ok(LookupResult::Index(fallback.to_owned()));
            }
            _ => return Err(refusal.into()),
        },
    };
    let found = generation.routes.refine(&generation.config, route, spot.found())?;
    found.refused()?;
    match found.settings.handler {
        _ if found.settings.has_perl_phases() => Ok(LookupResult::Handled(found)),
        Handler::CgiScript | Handler::FcgidScript
            if spot.extra > 0 && found.settings.response.path_info == Some(PathInfo::Off) =>
        {
            Ok(LookupResult::Beyond(found))
        }
        Handler::Default | Handler::AsIs | Handler::ServerParsed | Handler::Named(_)
            if spot.extra > 0 && !takes_path_info(&found) =>
        {
            Ok(LookupResult::Beyond(found))
        }
        Handler::Default | Handler::AsIs | Handler::ServerParsed | Handler::TypeMap | Handler::Named(_) => {
            let opened = of_its_own(generation, route, &found, spot.opened)?;
            Ok(LookupResult::File(found, opened))
        }
        _ => Ok(LookupResult::Handled(found)),
    }
}

/// Looks up the file that a Perl handler left to the default handler (`DECLINED`). A script is refused, not sent as
/// text.
pub fn find_declined(generation: &View, route: &Route, file: &[u8], head: &Parts) -> Result<LookupResult, NotYet> {
    let file = Path::new(OsStr::from_bytes(file));
    if !file.is_absolute() {
        return Err(Refusal::new(StatusCode::NOT_FOUND).into());
    }
    let spot = match locate(generation, route, file)? {
        Spot::File(spot) if spot.extra > 0 && !takes_path_info(route) => {
            return Err(Refusal::new(StatusCode::NOT_FOUND).into());
        }
        Spot::File(spot) => spot,
        Spot::NoSlash => return Ok(LookupResult::Response(redirect(generation, route, head.uri.query()))),
        Spot::Folder(folder) => return Ok(LookupResult::Folder(folder)),
        Spot::Elsewhere(path) => return Ok(LookupResult::Index(path)),
        Spot::Moved(status, path) => return Ok(LookupResult::Response(moved(generation, route, (status, path)))),
    };
    let whole = FoundFile { script_length: spot.path.len(), ..spot.found() };
    let found = generation.routes.refine(&generation.config, route, whole)?;
    found.refused()?;
    let is_index = found.path != route.path;
    match &found.settings.handler {
        // The folder's index has a program or Perl phases: process it as a request of its own.
        handler if is_index && (found.settings.has_perl_phases() || !handler.is_about_a_file()) => {
            Ok(LookupResult::Index(percent_encode(&found.path, PATH).to_string()))
        }
        Handler::CgiScript | Handler::FcgidScript => Err(Refusal::new(StatusCode::FORBIDDEN).into()),
        _ => {
            let opened = of_its_own(generation, route, &found, spot.opened)?;
            Ok(LookupResult::File(found, opened))
        }
    }
}

/// Whether `AcceptPathInfo On` allows a PATH_INFO behind a static file.
fn takes_path_info(route: &Route) -> bool {
    route.settings.response.path_info == Some(PathInfo::On)
}

/// The opened file. If the file's own sections have other link rules than the folder, the file is reopened under its
/// own rules.
fn of_its_own(generation: &View, route: &Route, found: &Route, opened: OpenedFile) -> Result<OpenedFile, Refusal> {
    match Links::of(route.settings.options) == Links::of(found.settings.options) {
        true => Ok(opened),
        false => reopen(generation, found),
    }
}

/// The response with the file of `route`: all of it, the requested ranges, or 304 and 412 by the request's conditions.
pub async fn send(
    context: &RequestContext,
    route: &Route,
    opened: OpenedFile,
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if head.method == Method::OPTIONS {
        let mut response = Response::new(BodySource::Empty);
        response.headers_mut().insert(ALLOW, METHODS);
        return Ok(response);
    }
    let described = mime::headers(&context.generation.config, route, head);
    let parsed = if opened.kind.is_file() { facts::of_file(context, route, &opened, &described) } else { None };
    if let Some(file) = parsed
        && matches!(head.method, Method::GET | Method::HEAD | Method::POST)
    {
        return page(route, opened, (described, file), head);
    }
    if head.method != Method::GET && head.method != Method::HEAD {
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, METHODS));
    }
    if !opened.kind.is_file() {
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    if route.settings.handler == Handler::AsIs {
        return as_is::send(opened.file, opened.size).await;
    }
    let FileVariant { opened, coding } = precompressed::choose(context, route, opened, head, &described).await?;
    let validators = Validators::of(&opened, route.settings.response.file_etag).of_coding(coding);
    let validators = validators.among(context.variants());
    let OpenedFile { file, size, stamp, .. } = opened;
    let mut response = match validators.judge(&head.headers) {
        Verdict::Failed => return Err(Refusal::new(StatusCode::PRECONDITION_FAILED)),
        Verdict::NotModified => empty(StatusCode::NOT_MODIFIED),
        Verdict::Send => {
            let wanted = wanted(head, &validators, size, route.settings.response.ranges);
            if wanted == Wanted::Whole && coding.is_none() && packed_files::is_for(route, size) {
                packed_files::unread(file, size, stamp, described)
            } else {
                part(file, size, described, wanted, &validators).map_err(refusal)?
            }
        }
    };
    match coding {
        None if context.variants().is_some() => response.headers_mut().extend(fields_of(&validators)),
        None => response.headers_mut().extend(validator_fields(route, stamp, &validators)),
        Some(_) => response.headers_mut().extend(fields_of(&validators)),
    }
    let unit = if route.settings.response.ranges.most() == 0 { "none" } else { "bytes" };
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static(unit));
    precompressed::describe(response.headers_mut(), route, coding);
    Ok(response)
}

/// The response with a file of server-side includes. Its time counts only if `XBitHack full` says so, and it has no ranges.
fn page(
    route: &Route,
    opened: OpenedFile,
    (mut described, file): (HeaderMap, PageFile),
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if !described.contains_key(CONTENT_TYPE) && route.settings.handler == Handler::ServerParsed {
        described.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    }
    let validators = Validators::of(&opened, route.settings.response.file_etag);
    let verdict = if file.is_dated { validators.judge(&head.headers) } else { Verdict::Send };
    let mut response = match verdict {
        Verdict::Failed => return Err(Refusal::new(StatusCode::PRECONDITION_FAILED)),
        Verdict::NotModified => empty(StatusCode::NOT_MODIFIED),
        Verdict::Send => part(opened.file, opened.size, described, Wanted::Whole, &validators).map_err(refusal)?,
    };
    response.headers_mut().extend(fields_of(&validators));
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if response.status() == StatusCode::OK {
        response.extensions_mut().insert(file);
    } else {
        response.headers_mut().remove(ETAG);
    }
    Ok(response)
}

/// The headers that describe the file of `route` by its name.
pub fn media_type(config: &Config, route: &Route, head: &Parts) -> HeaderMap {
    mime::headers(config, route, head)
}

fn empty(status: StatusCode) -> Response<BodySource> {
    let mut response = Response::new(BodySource::Empty);
    *response.status_mut() = status;
    response
}

/// The validators as header fields, formatted once per state of a file in the route's memo.
fn validator_fields(route: &Route, stamp: Stamp, validators: &Validators) -> Fields {
    let mut memo = route.memo.validators.borrow_mut();
    match &*memo {
        Some((known, fields)) if *known == stamp => fields.clone(),
        _ => memo.insert((stamp, fields_of(validators))).1.clone(),
    }
}

fn fields_of(validators: &Validators) -> Fields {
    let modified = httpdate::fmt_http_date(validators.modified);
    let fields = [(LAST_MODIFIED, modified), (ETAG, validators.etag.clone())];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)));
    fields.filter(|(_, value)| !value.is_empty()).collect()
}

/// A redirect to the folder's path with a trailing slash.
/// The location is a percent-encoded path without a host, so that `//elsewhere.example` does not redirect to another
/// site.
fn redirect(generation: &View, route: &Route, query: Option<&str>) -> Response<BodySource> {
    let mut location = percent_encode(&route.path, PATH).to_string();
    location.push('/');
    if let Some(query) = query {
        location.push('?');
        location.push_str(query);
    }
    moved(generation, route, (StatusCode::MOVED_PERMANENTLY.as_u16(), location))
}

fn moved(generation: &View, route: &Route, (status, location): (u16, String)) -> Response<BodySource> {
    let foot = server_name::foot(&generation.config, &generation.software, route);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::FOUND);
    let mut response = Refusal::new(status).response(&foot);
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

fn wanted(head: &Parts, validators: &Validators, size: u64, allowed: Ranges) -> Wanted {
    match head.headers.get(RANGE) {
        Some(value) if head.method == Method::GET && validators.allow_range(&head.headers) => {
            range::parse(value.as_bytes(), size, allowed)
        }
        _ => Wanted::Whole,
    }
}

fn part(
    file: Arc<File>,
    size: u64,
    described: HeaderMap,
    wanted: Wanted,
    validators: &Validators,
) -> io::Result<Response<BodySource>> {
    let mut response = Response::new(BodySource::Empty);
    *response.headers_mut() = described;
    *response.body_mut() = match wanted {
        Wanted::Whole => contents(file, 0, size)?,
        Wanted::Nothing => {
            let mut response = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE).response("");
            response.headers_mut().extend(content_range(&format!("bytes */{size}")));
            return Ok(response);
        }
        Wanted::Parts(parts) => {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            if let [(from, to)] = parts[..] {
                let range = format!("bytes {from}-{}/{size}", to - 1);
                response.headers_mut().extend(content_range(&range));
                contents(file, from, to)?
            } else {
                let boundary = boundary(validators);
                let segments = multipart(&parts, size, response.headers().get(CONTENT_TYPE), &boundary);
                let kind = HeaderValue::from_str(&format!("multipart/byteranges; boundary={boundary}"));
                drop(kind.map(|kind| response.headers_mut().insert(CONTENT_TYPE, kind)));
                BodySource::File(FileBody::new(file, segments))
            }
        }
    };
    Ok(response)
}

fn content_range(text: &str) -> Option<(http::HeaderName, HeaderValue)> {
    Some((CONTENT_RANGE, HeaderValue::from_str(text).ok()?))
}

/// The body with the bytes from `from` to `to`.
fn contents(file: Arc<File>, from: u64, to: u64) -> io::Result<BodySource> {
    if from == to {
        return Ok(BodySource::Empty);
    }
    FileBody::new(file, [Segment::Range { from, to }]).into_source()
}

/// The boundary of a multipart response. The boundary is made from the entity tag. Searching the contents for it would
/// mean reading the whole file.
fn boundary(validators: &Validators) -> String {
    let tag: String = validators.etag.chars().filter(char::is_ascii_hexdigit).collect();
    format!("cameleer-{tag}")
}

fn multipart(parts: &[(u64, u64)], size: u64, mime: Option<&HeaderValue>, boundary: &str) -> Vec<Segment> {
    let mime = mime.and_then(|mime| mime.to_str().ok()).map(|mime| format!("Content-Type: {mime}\r\n"));
    let mime = mime.unwrap_or_default();
    let mut segments = Vec::with_capacity(parts.len() * 2 + 1);
    for (from, to) in parts {
        let last = to - 1;
        let text = format!("\r\n--{boundary}\r\n{mime}Content-Range: bytes {from}-{last}/{size}\r\n\r\n");
        segments.push(Segment::Text(Bytes::from(text)));
        segments.push(Segment::Range { from: *from, to: *to });
    }
    segments.push(Segment::Text(Bytes::from(format!("\r\n--{boundary}--\r\n"))));
    segments
}
