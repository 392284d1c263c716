//! Decompresses gzip request bodies for programs, where `SetInputFilter DEFLATE` is set. Unlike with httpd's
//! mod_deflate, the program gets the decompressed length.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Weak};

use flate2::bufread::GzDecoder;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use tokio::sync::Semaphore;

use super::super::context::RequestContext;
use super::{Body, Store};
use crate::base::blocking;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::Spooling;
use config::response::inflate::InflateBounds;

/// Maximum number of threads that unpack bodies at once; they are a share of the front's threads for blocking work.
static TURNS: Semaphore = Semaphore::const_new(16);
/// The size in bytes of mod_deflate's buffer, which is the unit of `DeflateInflateRatioBurst`.
const BUFFER: usize = 8096;
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// The request as its program receives it: the unpacked body, and a head that describes it.
pub async fn unpacked<'a>(
    context: &RequestContext,
    head: &'a Parts,
    route: &Route,
    body: Body,
) -> Result<(Cow<'a, Parts>, Body), Refusal> {
    let rules = &route.settings.response.inflate;
    // A part of a gzip stream cannot be unpacked.
    if !is_for(route) || head.headers.contains_key(CONTENT_RANGE) {
        return Ok((Cow::Borrowed(head), body));
    }
    let Some(encoding) = without_gzip(&head.headers) else { return Ok((Cow::Borrowed(head), body)) };
    let mut head = head.clone();
    head.headers.remove(CONTENT_ENCODING);
    head.headers.extend(encoding.map(|rest| (CONTENT_ENCODING, rest)));
    if body.len() == 0 {
        return Ok((Cow::Owned(head), body));
    }
    let bounds = rules.bounds(route.settings.limit_request_body);
    let body = match aside(body, bounds, &context.generation.config.spooling).await? {
        Ok(body) => body,
        Err(Trouble::NoRoom(error)) => return Err(super::full(error, &context.generation.config.spooling)),
        Err(trouble) => {
            context.log_error(route, &trouble);
            return Err(Refusal::new(trouble.status()));
        }
    };
    head.headers.remove(CONTENT_MD5);
    head.headers.insert(CONTENT_LENGTH, body.len().into());
    Ok((Cow::Owned(head), body))
}

/// Whether bodies sent to `route` are unpacked. While the script's part of the path is unknown, every name in it is
/// tried.
fn is_for(route: &Route) -> bool {
    let rules = &route.settings.response.inflate;
    let file = route.filename.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let path = String::from_utf8_lossy(&route.path);
    rules.takes(&file) || route.script_length.is_none() && path.split('/').any(|name| rules.takes(name))
}

/// The encodings that remain after gzip, the outermost one, is undone. The outer `None`: gzip is not the outermost.
pub fn without_gzip(headers: &HeaderMap) -> Option<Option<HeaderValue>> {
    let lists = headers.get_all(CONTENT_ENCODING).iter().map(|value| value.to_str().ok());
    let lists = lists.collect::<Option<Vec<_>>>()?.join(",");
    let mut names: Vec<&str> = lists.split(',').map(str::trim).collect();
    while names.last().is_some_and(|name| name.is_empty() || name.eq_ignore_ascii_case("identity")) {
        names.pop();
    }
    let outermost = names.pop()?;
    if !outermost.eq_ignore_ascii_case("gzip") && !outermost.eq_ignore_ascii_case("x-gzip") {
        return None;
    }
    Some(HeaderValue::from_str(&names.join(", ")).ok().filter(|rest| !rest.is_empty()))
}

/// Why a body cannot be unpacked.
#[derive(Debug)]
enum Trouble {
    Broken(io::Error),
    TooLong(u64),
    TooDense(u64),
    NoRoom(io::Error),
}

impl Trouble {
    fn status(&self) -> StatusCode {
        match self {
            Trouble::Broken(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Broken(error) => {
                write!(f, "the request's body is not valid gzip, although its Content-Encoding is gzip: {error}")
            }
            Trouble::TooLong(most) => {
                write!(
                    f,
                    "the request's body is refused: it has more than {most} bytes when decompressed \
                     (DeflateInflateLimitRequestBody, or else LimitRequestBody)"
                )
            }
            Trouble::TooDense(ratio) => {
                write!(
                    f,
                    "the request's body is refused: it is {ratio} times as long when decompressed, or more \
                     (DeflateInflateRatioLimit, DeflateInflateRatioBurst)"
                )
            }
            Trouble::NoRoom(error) => write!(f, "the request's body cannot be stored: {error}"),
        }
    }
}

/// Unpacks on another thread, which stops early if the request is dropped. The thread holds its turn until it ends.
async fn aside(body: Body, bounds: InflateBounds, rules: &Spooling) -> Result<Result<Body, Trouble>, Refusal> {
    let turn = TURNS.acquire().await.map_err(|_| Refusal::busy())?;
    let (rules, waiting) = (rules.clone(), Arc::new(()));
    let is_awaited = Arc::downgrade(&waiting);
    let work = move || {
        let _turn = turn;
        match body {
            Body::Memory(bytes) => inflate(&bytes[..], bounds, &rules, &is_awaited),
            Body::File(file, _) => {
                let file = file.into_file().map_err(Trouble::NoRoom)?;
                inflate(BufReader::new(file), bounds, &rules, &is_awaited)
            }
        }
    };
    let done = blocking::run("unpack a request's body", work).await?;
    drop(waiting);
    Ok(done)
}

fn inflate(
    from: impl BufRead,
    bounds: InflateBounds,
    rules: &Spooling,
    is_awaited: &Weak<()>,
) -> Result<Body, Trouble> {
    let mut decoder = GzDecoder::new(Counted { from, taken: 0 });
    let (mut store, mut piece, mut dense) = (Store::default(), [0; BUFFER], 0);
    loop {
        let length = decoder.read(&mut piece).map_err(Trouble::Broken)?;
        if length == 0 {
            break;
        }
        let whole = store.length() + length as u64;
        if bounds.length != 0 && whole > bounds.length {
            return Err(Trouble::TooLong(bounds.length));
        }
        // Only full buffers count, as in httpd: the short rest of a body may be highly compressible, too.
        dense = match whole / decoder.get_ref().taken.max(1) < bounds.ratio {
            true => 0,
            false => dense + u64::from(length == BUFFER),
        };
        if dense > bounds.burst {
            return Err(Trouble::TooDense(bounds.ratio));
        }
        if is_awaited.strong_count() == 0 {
            return Err(Trouble::Broken(io::ErrorKind::Interrupted.into()));
        }
        store.add(&piece[..length]);
        if store.is_heavy() {
            store = store.write(rules).map_err(Trouble::NoRoom)?;
        }
    }
    match decoder.get_mut().fill_buf() {
        Ok([]) => store.close(rules).map_err(Trouble::NoRoom),
        Ok(_) => Err(Trouble::Broken(io::Error::other("there is data after the end of the gzip stream"))),
        Err(error) => Err(Trouble::Broken(error)),
    }
}

/// Counts the compressed bytes that were consumed.
struct Counted<R> {
    from: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(into)?;
        self.taken += length as u64;
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.from.consume(length);
        self.taken += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_undone_where_it_was_done_last() {
        for (lines, left) in [
            (&["gzip"][..], Some("")),
            (&["X-GZIP , identity,"], Some("")),
            (&["br, gzip"], Some("br")),
            (&["gzip", "gzip"], Some("gzip")),
            (&["gzip, br"], None),
            (&["deflate"], None),
            (&["identity"], None),
            (&[""], None),
            (&[], None),
        ] {
            let headers = lines.iter().map(|line| (CONTENT_ENCODING, HeaderValue::from_static(line)));
            let found = without_gzip(&HeaderMap::from_iter(headers));
            let found = found.map(|rest| rest.map_or_else(String::new, |rest| rest.to_str().unwrap().to_owned()));
            assert_eq!(found.as_deref(), left, "{lines:?}");
        }
    }
}
