//! The page for a handler that returned a status without output.

/// The content of a page for a status.
#[derive(Debug, Clone, Copy)]
pub enum ErrorPage<'a> {
    /// The standard text of the status, followed by HTML.
    Ours(&'a str),
    /// A text that is sent instead of the standard page.
    Text(&'a [u8]),
}

/// Statuses, their reason phrases, and a sentence for the page.
const REASONS: &[(u16, &str, &str)] = &[
    (200, "OK", "The server encountered an internal error: a program answered an error with status 200."),
    (201, "Created", ""),
    (202, "Accepted", ""),
    (204, "No Content", ""),
    (205, "Reset Content", ""),
    (206, "Partial Content", ""),
    (300, "Multiple Choices", "There is more than one version of this page."),
    (301, "Moved Permanently", "This page has another address now."),
    (302, "Found", "This page is at another address for now."),
    (303, "See Other", "The result of this request is at another address."),
    (304, "Not Modified", ""),
    (307, "Temporary Redirect", "This page is at another address for now."),
    (308, "Permanent Redirect", "This page has another address now."),
    (400, "Bad Request", "The server could not understand this request."),
    (401, "Authorization Required", "You need to log in to see this page."),
    (403, "Forbidden", "You may not see this page."),
    (404, "Not Found", "There is no page at this address."),
    (405, "Method Not Allowed", "This page does not allow this method."),
    (406, "Not Acceptable", "There is no version of this page that your browser accepts."),
    (408, "Request Timeout", "The request took too long to arrive."),
    (409, "Conflict", "The request does not fit the present state of this page."),
    (410, "Gone", "This page is gone, and has no new address."),
    (411, "Length Required", "The request must have a Content-Length."),
    (412, "Precondition Failed", "The page is not in the state that the request expects."),
    (413, "Request Entity Too Large", "The request is larger than the server accepts."),
    (414, "Request-URI Too Large", "The address is longer than the server accepts."),
    (415, "Unsupported Media Type", "The server cannot use a request of this type."),
    (416, "Range Not Satisfiable", "The page has no such part."),
    (429, "Too Many Requests", "There were too many requests; try again later."),
    (500, "Internal Server Error", "The server encountered an internal error. Its error log has details."),
    (501, "Not Implemented", "The server does not support this request."),
    (502, "Bad Gateway", "The program behind this page sent an invalid response."),
    (503, "Service Unavailable", "The server is busy; try again later."),
    (504, "Gateway Timeout", "The program behind this page took too long."),
];

fn entry(status: u16) -> (&'static str, &'static str) {
    match REASONS.iter().find(|(code, ..)| *code == status) {
        Some((_, reason, sentence)) => (reason, sentence),
        None => ("Error", "The server answered with this status."),
    }
}

/// `404 Not Found`
pub(crate) fn status_line(status: u16) -> Vec<u8> {
    format!("{status} {}", entry(status).0).into_bytes()
}

/// A status that never has a body.
pub(crate) fn is_bodyless(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 205 | 304)
}

/// Makes the standard page; `foot` is HTML below the text.
pub(crate) fn page(status: u16, location: Option<&[u8]>, foot: &str) -> Vec<u8> {
    let (reason, sentence) = entry(status);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{status} {reason}</title></head>\n\
         <body><h1>{reason}</h1>\n<p>{sentence}</p>\n"
    )
    .into_bytes();
    if let Some(location) = location {
        html.extend_from_slice(b"<p><a href=\"");
        escape(location, &mut html);
        html.extend_from_slice(b"\">It is here.</a></p>\n");
    }
    html.extend_from_slice(foot.as_bytes());
    html.extend_from_slice(b"</body></html>\n");
    html
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            byte => out.push(*byte),
        }
    }
}
