//! Files that the front sends itself. A file whose handler is a worker's is never sent as text from here.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED, LOCATION, RANGE,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use nix::fcntl::OFlag;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::conditional::{Validators, Verdict};
use super::error_page::Refusal;
use super::locate::{Spot, allowed, locate, refusal};
use super::payload::{FileBody, Kind, PIECE, Segment};
use super::range::{self, Wanted};
use super::route::Route;
use super::site::Site;
use crate::config::{Config, Handler};

/// What a path in a `Location` keeps as it is.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'+');
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// What was found for a path.
pub enum Found {
    /// A file to send.
    File(Route),
    /// A file, and the path goes on behind it.
    Beyond(Route),
    /// A file that a worker answers for (`<Files *.cgi>`).
    Handled(Route),
    /// A redirection.
    Response(Response<Kind>),
}

impl Found {
    /// The file that was found.
    pub fn file(&self) -> Option<&Route> {
        match self {
            Found::File(route) | Found::Beyond(route) | Found::Handled(route) => Some(route),
            Found::Response(_) => None,
        }
    }
}

/// The file behind a path of a worker's, where it could be one with rules of its own that the path does not show.
pub fn behind(site: &Site, route: &Route) -> Option<Route> {
    match route.ambiguous.then(|| locate(route, &route.filename))? {
        Ok(Spot::File(spot)) => {
            Some(site.routes.refine(&site.config, route, &spot.path, &spot.file, spot.path.len() - spot.extra))
        }
        _ => None,
    }
}

/// Looks for the file of `route`.
pub fn find(site: &Site, route: &Route, head: &Parts) -> Result<Found, Refusal> {
    let spot = match locate(route, &route.filename)? {
        Spot::File(spot) => spot,
        Spot::NoSlash => return Ok(Found::Response(redirect(&route.path, head.uri.query()))),
    };
    let found = site.routes.refine(&site.config, route, &spot.path, &spot.file, spot.path.len() - spot.extra);
    found.refused()?;
    match found.settings.handler {
        Handler::Default if spot.extra > 0 => Ok(Found::Beyond(found)),
        Handler::Default => Ok(Found::File(found)),
        _ => Ok(Found::Handled(found)),
    }
}

/// Looks for the file that a worker did not want to answer for.
pub fn find_declined(site: &Site, route: &Route, file: &[u8], head: &Parts) -> Result<Found, Refusal> {
    let file = Path::new(OsStr::from_bytes(file));
    if !file.is_absolute() {
        return Err(Refusal::new(StatusCode::NOT_FOUND));
    }
    let spot = match locate(route, file)? {
        Spot::File(spot) if spot.extra > 0 => return Err(Refusal::new(StatusCode::NOT_FOUND)),
        Spot::File(spot) => spot,
        Spot::NoSlash => return Ok(Found::Response(redirect(&route.path, head.uri.query()))),
    };
    let found = site.routes.refine(&site.config, route, &spot.path, &spot.file, spot.path.len());
    found.refused()?;
    match found.settings.handler {
        Handler::CgiScript => Err(Refusal::new(StatusCode::FORBIDDEN)),
        _ => Ok(Found::File(found)),
    }
}

/// Sends the file of `route`, or the parts of it that are wanted.
pub fn send(site: &Site, route: &Route, head: &Parts) -> Result<Response<Kind>, Refusal> {
    allowed(&site.config, route)?;
    if head.method == Method::OPTIONS {
        let mut response = Response::new(Kind::Empty);
        response.headers_mut().insert(ALLOW, METHODS);
        return Ok(response);
    }
    if head.method != Method::GET && head.method != Method::HEAD {
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, METHODS));
    }
    let (file, metadata) = open(&route.filename).map_err(refusal)?;
    let validators = Validators::new(metadata.len(), metadata.modified().map_err(refusal)?);
    let mut response = match validators.judge(&head.headers) {
        Verdict::Failed => return Err(Refusal::new(StatusCode::PRECONDITION_FAILED)),
        Verdict::NotModified => empty(StatusCode::NOT_MODIFIED),
        Verdict::Send => {
            let kind = content_type(&site.config, route);
            let wanted = wanted(head, &validators, metadata.len());
            part(file, metadata.len(), kind, wanted, &validators).map_err(refusal)?
        }
    };
    describe(response.headers_mut(), &validators);
    Ok(response)
}

fn empty(status: StatusCode) -> Response<Kind> {
    let mut response = Response::new(Kind::Empty);
    *response.status_mut() = status;
    response
}

fn describe(headers: &mut HeaderMap, validators: &Validators) {
    let modified = httpdate::fmt_http_date(validators.modified);
    for (name, value) in [(LAST_MODIFIED, &modified), (ETAG, &validators.etag)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
}

/// Only a path of this host, so that `//elsewhere.example` cannot become another one.
fn redirect(path: &[u8], query: Option<&str>) -> Response<Kind> {
    let mut location = percent_encode(path, PATH).to_string();
    location.push('/');
    if let Some(query) = query {
        location.push('?');
        location.push_str(query);
    }
    let mut response = Refusal::new(StatusCode::MOVED_PERMANENTLY).response();
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Without waiting for the other end of a named pipe.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(ErrorKind::PermissionDenied.into()) }
}

fn content_type(config: &Config, route: &Route) -> Option<HeaderValue> {
    let extension = route.filename.extension().and_then(OsStr::to_str).unwrap_or("").to_ascii_lowercase();
    let added = config.types.iter().rev().find(|(known, _)| *known == extension).map(|(_, mime)| mime.as_str());
    let guessed = || mime_guess::from_ext(&extension).first_raw();
    let mime = added.or_else(guessed).or(route.settings.default_type.as_deref());
    HeaderValue::from_str(mime?).ok()
}

fn wanted(head: &Parts, validators: &Validators, size: u64) -> Wanted {
    match head.headers.get(RANGE) {
        Some(value) if head.method == Method::GET && validators.allow_range(&head.headers) => {
            range::parse(value.as_bytes(), size)
        }
        _ => Wanted::Whole,
    }
}

fn part(
    file: File,
    size: u64,
    mime: Option<HeaderValue>,
    wanted: Wanted,
    validators: &Validators,
) -> io::Result<Response<Kind>> {
    let mut response = Response::new(Kind::Empty);
    let mut mime = mime;
    *response.body_mut() = match wanted {
        Wanted::Whole => contents(file, 0, size)?,
        Wanted::Nothing => {
            let mut response = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE).response();
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
                let segments = multipart(&parts, size, mime.as_ref(), &boundary);
                mime = HeaderValue::from_str(&format!("multipart/byteranges; boundary={boundary}")).ok();
                Kind::File(FileBody::new(file, segments))
            }
        }
    };
    response.headers_mut().extend(mime.map(|mime| (CONTENT_TYPE, mime)));
    Ok(response)
}

fn content_range(text: &str) -> Option<(http::HeaderName, HeaderValue)> {
    Some((CONTENT_RANGE, HeaderValue::from_str(text).ok()?))
}

/// A small file is read at once; a large one piece by piece as the client takes it.
fn contents(file: File, from: u64, to: u64) -> io::Result<Kind> {
    let mut body = FileBody::new(file, [Segment::Range { from, to }]);
    if to - from > PIECE as u64 {
        return Ok(Kind::File(body));
    }
    Ok(Kind::whole(body.next()?.unwrap_or_default()))
}

/// Differs from file to file; that it does not occur in the file cannot be known without reading it.
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
