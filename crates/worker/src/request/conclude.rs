//! The response if no handler answers: a file, or an error page.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use apache::{ErrorPage, HandlerOutcome, InternalRequest};

use super::at::LocatedRequest;
use super::engine::redirect::redirect;
use super::filters::filtered_file;
use super::folders::{FolderResult, answer_for};
use super::phases::{DECLINED, OK};
use super::variables;
use config::Named;
use config::response::{ErrorDocument, PathInfo};

/// Sends the response after its handler has returned `status`.
pub(super) fn conclude(at: LocatedRequest<'_>, status: i32) {
    let handler = at.handler();
    if let (DECLINED, true, Some(page)) = (status, handler.is_page(), handler.name()) {
        // Safe as a marker: a file name would be an absolute path.
        return apache::send_file(at.request, page.as_bytes());
    }
    match apache::outcome(at.request, status) {
        HandlerOutcome::Answered => {}
        HandlerOutcome::File(path) => with_file(at, &path),
        HandlerOutcome::Error(status) => with_error(at, status),
    }
}

/// Concludes a request that all handlers declined: the front sends the file, if there is one.
fn with_file(at: LocatedRequest<'_>, path: &[u8]) {
    let request = at.request;
    if apache::is_internal(request) && with_folder(at, path) {
        return;
    }
    let takes_more = at.settings().response.path_info == Some(PathInfo::On);
    let file = if takes_more { apache::filename(request) } else { path.to_vec() };
    if let Some(result) = filtered_file(at, &file) {
        return match result {
            OK => apache::commit(request),
            status => with_error(at, u16::try_from(status).unwrap_or(500)),
        };
    }
    if Path::new(OsStr::from_bytes(&file)).exists() {
        return apache::send_file(request, path);
    }
    apache::log_line(apache::Level::Error, &format!("File does not exist: {}", String::from_utf8_lossy(path)));
    with_error(at, 404);
}

/// Answers an internal request whose file is a folder. Returns false for other files, and for folders that may be
/// listed.
fn with_folder(at: LocatedRequest<'_>, file: &[u8]) -> bool {
    match answer_for(at.site, at.request, at.location, file) {
        Some(FolderResult::Index(uri)) => {
            if !redirect(at.site, at.request, InternalRequest::Redirect, &uri, false) {
                with_error(at, 500);
            }
        }
        Some(FolderResult::Moved(uri)) => {
            apache::set_location(at.request, &uri);
            with_error(at, 301);
        }
        Some(FolderResult::Bare) if !at.settings().options.indexes => with_error(at, 403),
        Some(FolderResult::Bare) | None => return false,
    }
    true
}

/// The `ServerSignature` line, as HTML.
fn foot(at: LocatedRequest<'_>) -> String {
    let Some(signature) = at.settings().response.signature else { return String::new() };
    let (name, port) = apache::server_name(at.request);
    let host = at.site.config.hosts.get(usize::from(apache::requested(at.request).host));
    let admin = host.and_then(|host| host.server_admin.as_deref());
    signature.html(&Named { software: &at.site.software(), name: &name, port, admin })
}

/// Answers with `$r->custom_response` or the ErrorDocument for the status, or with a plain page.
fn with_error(at: LocatedRequest<'_>, status: u16) {
    let (request, foot) = (at.request, foot(at));
    if let Some(original) = apache::error_before(request) {
        // The error page itself has failed.
        return apache::send_page(request, original, ErrorPage::Ours(&foot));
    }
    let Some(response) = response_for(at, status) else {
        return apache::send_page(request, status, ErrorPage::Ours(&foot));
    };
    match ErrorResponse::of(&response) {
        ErrorResponse::Text(text) => apache::send_page(request, status, ErrorPage::Text(text)),
        ErrorResponse::Away(url) => {
            apache::set_location(request, url);
            apache::send_page(request, 302, ErrorPage::Ours(&foot));
        }
        ErrorResponse::Local(uri) => {
            if !apache::discard(request) {
                return apache::send_page(request, status, ErrorPage::Ours(&foot));
            }
            apache::set_status(request, status);
            if !redirect(at.site, request, InternalRequest::ErrorPage, uri, false) {
                apache::send_page(request, status, ErrorPage::Ours(&foot));
            }
        }
    }
}

/// The error response for a status, as `$r->custom_response` returns it.
pub(super) fn response_for(at: LocatedRequest<'_>, status: u16) -> Option<Vec<u8>> {
    apache::custom_response(at.request, status).unwrap_or_else(|| {
        at.settings().response.error_document(status).and_then(|document| shown(at.request, document))
    })
}

/// Replacement of an error's plain page.
enum ErrorResponse<'a> {
    Text(&'a [u8]),
    Local(&'a [u8]),
    Away(&'a [u8]),
}

impl ErrorResponse<'_> {
    /// Determines the kind by its syntax; httpd 1.3 marks a text by a quotation mark.
    fn of(response: &[u8]) -> ErrorResponse<'_> {
        let is_url = |text: &[u8]| text.starts_with(b"http://") || text.starts_with(b"https://");
        match response {
            [b'"', text @ ..] => ErrorResponse::Text(text),
            [b'/', ..] => ErrorResponse::Local(response),
            url if is_url(url) && !url.contains(&b' ') => ErrorResponse::Away(url),
            text => ErrorResponse::Text(text),
        }
    }
}

/// An ErrorDocument as `$r->custom_response` returns it.
fn shown(request: u64, document: &ErrorDocument) -> Option<Vec<u8>> {
    match document {
        ErrorDocument::Default => None,
        ErrorDocument::Text(text) => Some(format!("\"{}", variables::text_of(request, text)).into_bytes()),
        ErrorDocument::Local(target) | ErrorDocument::Away(target) => {
            Some(variables::text_of(request, target).into_bytes())
        }
    }
}
