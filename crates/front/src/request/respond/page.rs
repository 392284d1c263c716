//! The error pages of the front.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use super::body::BodySource;
use crate::base::refusal::Refusal;

impl Refusal {
    /// The explanation of the error for a reader.
    pub fn explanation(&self) -> &'static str {
        self.why.unwrap_or_else(|| explanation(self.status))
    }

    /// The error page, with `foot` at its end.
    pub fn response(self, foot: &str) -> Response<BodySource> {
        let page = page(self.status, self.explanation(), self.list.as_deref().unwrap_or_default(), foot);
        self.with_text(page)
    }

    /// The response with `text` as its page.
    pub fn with_text(self, text: Bytes) -> Response<BodySource> {
        let mut response = Response::new(BodySource::whole(text));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        response.headers_mut().extend(self.header);
        response
    }
}

/// Writes the page. Its texts are the server's own, and `list` is HTML, so nothing is escaped.
fn page(status: StatusCode, why: &str, list: &str, foot: &str) -> Bytes {
    let reason = status.canonical_reason().unwrap_or("Error");
    let code = status.as_u16();
    Bytes::from(format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>{code} {reason}</title></head>\n\
         <body><h1>{reason}</h1>\n<p>{why}</p>\n{list}{foot}</body></html>\n"
    ))
}

fn explanation(status: StatusCode) -> &'static str {
    match status.as_u16() {
        301 | 302 | 303 | 307 | 308 => "This page has another address.",
        300 => "This page has several forms.",
        406 => "No form of this page is acceptable to you.",
        400 => "The server cannot understand this request.",
        401 => "This page asks for a name and a password.",
        407 => "This proxy asks for a name and a password.",
        403 => "You have no permission to see this page.",
        404 => "There is no page at this address.",
        410 => "There was a page at this address; it is gone for good.",
        405 => "This page does not allow this method.",
        408 => "The request took too long to arrive.",
        413 => "The request is larger than this server accepts.",
        414 => "The address is longer than this server accepts.",
        421 => "This connection was made for another host.",
        416 => "The page has no such part.",
        417 => "The server cannot do what the request expects of it.",
        429 => "You ask for more than this server gives to one visitor. Please slow down.",
        431 => "The request has more headers than this server accepts.",
        501 => "The server does not know this method or this coding.",
        502 => "The program that makes this page has failed.",
        503 => "The server is busy. Please try again soon.",
        504 => "The program that makes this page took too long.",
        505 => "The server does not speak this version of HTTP.",
        _ => "The server cannot answer this request.",
    }
}
