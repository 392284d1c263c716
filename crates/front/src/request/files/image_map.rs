//! `SetHandler imap-file`: files that say which part of an image leads where (httpd manual, mod_imagemap).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use http::header::{CONTENT_TYPE, HeaderValue, LOCATION, REFERER};
use http::request::Parts;
use http::{Response, StatusCode};
use percent_encoding::percent_encode;

use super::lookup::refusal;
use crate::base::blocking;
use crate::base::refusal::Refusal;
use crate::request::context::{RequestContext, known};
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use base::path::PATH;
use files::image_map::{MapAnswer, MapPlace, answer};
use files::open::OpenedFile;

/// Maximum length of a map in bytes.
const MAX_BYTES: u64 = 256 << 10;
/// httpd's type of the page.
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=UTF-8");

/// The answer of a map to the coordinates in the query.
pub async fn send(
    context: &RequestContext,
    route: &Route,
    opened: OpenedFile,
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if opened.size > MAX_BYTES {
        context.log_error(route, &format_args!("the image map has more than {} KB", MAX_BYTES >> 10));
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    let (file, size) = (opened.file, opened.size);
    let text = blocking::run("read a file", move || whole(&file, size)).await?.map_err(refusal)?;
    let text = String::from_utf8_lossy(&text);
    let rules = &route.settings.response.image_map;
    let place = MapPlace {
        path: &percent_encode(&route.path, PATH).to_string(),
        origin: &known::origin(context, head, route),
        referer: head.headers.get(REFERER).and_then(|referer| referer.to_str().ok()),
        base: rules.base.as_deref().unwrap_or("map"),
    };
    let default = rules.default.as_deref().unwrap_or("nocontent");
    match answer(&text, head.uri.query(), &place, default, rules.menu.unwrap_or_default()) {
        MapAnswer::To(url) => Err(match HeaderValue::try_from(url) {
            Ok(url) => Refusal::with(StatusCode::FOUND, LOCATION, url),
            Err(_) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR),
        }),
        MapAnswer::NoContent => {
            let mut response = Response::new(BodySource::Empty);
            *response.status_mut() = StatusCode::NO_CONTENT;
            Ok(response)
        }
        MapAnswer::Failed(why) => {
            context.log_error(route, &format_args!("{}: {why}", route.filename.display()));
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
        }
        MapAnswer::Menu(html) => {
            let mut response = Response::new(BodySource::whole(html.into()));
            response.headers_mut().insert(CONTENT_TYPE, HTML);
            Ok(response)
        }
    }
}

fn whole(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut text = vec![0; size as usize];
    file.read_exact_at(&mut text, 0)?;
    Ok(text)
}
