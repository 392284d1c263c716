//! The answer if no handler answers: a file, or an error page.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::phases::OK;
use apache::{InternalRequest, Page};

use crate::location::ResolvedLocation;
use crate::site::Site;
use config::Named;
use config::response::{ErrorDocument, PathInfo};

impl Site {
    /// Concludes a request that all handlers declined: the front sends the file, if there is one.
    pub(super) fn conclude_with_file(&self, request: u64, location: &ResolvedLocation, path: &[u8]) {
        if apache::is_internal(request) && self.conclude_with_folder(request, location, path) {
            return;
        }
        let takes_more = location.settings.response.path_info == Some(PathInfo::On);
        let file = if takes_more { apache::filename(request) } else { path.to_vec() };
        if let Some(said) = self.filtered_file(request, location, &file) {
            return match said {
                OK => apache::commit(request),
                status => self.conclude_with_error(request, location, u16::try_from(status).unwrap_or(500)),
            };
        }
        if Path::new(OsStr::from_bytes(&file)).exists() {
            return apache::send_file(request, path);
        }
        apache::say(apache::Level::Error, &format!("File does not exist: {}", String::from_utf8_lossy(path)));
        self.conclude_with_error(request, location, 404);
    }

    /// The `ServerSignature` line, as HTML.
    fn foot(&self, request: u64, location: &ResolvedLocation) -> String {
        let Some(signature) = location.settings.response.signature else { return String::new() };
        let (name, port) = apache::server_name(request);
        let host = self.config.hosts.get(usize::from(apache::requested(request).host));
        let admin = host.and_then(|host| host.server_admin.as_deref());
        signature.html(&Named { software: &self.software(), name: &name, port, admin })
    }

    /// Answers with `$r->custom_response` or the ErrorDocument for the status, or with a plain page.
    pub(super) fn conclude_with_error(&self, request: u64, location: &ResolvedLocation, status: u16) {
        let foot = self.foot(request, location);
        if let Some(original) = apache::error_before(request) {
            // The error page itself has failed.
            return apache::send_page(request, original, Page::Ours(&foot));
        }
        let Some(response) = self.response_for(request, location, status) else {
            return apache::send_page(request, status, Page::Ours(&foot));
        };
        match Response::of(&response) {
            Response::Text(text) => apache::send_page(request, status, Page::Text(text)),
            Response::Away(url) => {
                apache::set_location(request, url);
                apache::send_page(request, 302, Page::Ours(&foot));
            }
            Response::Local(uri) => {
                if !apache::discard(request) {
                    return apache::send_page(request, status, Page::Ours(&foot));
                }
                apache::set_status(request, status);
                if !self.redirect_to(request, InternalRequest::ErrorPage, uri, false) {
                    apache::send_page(request, status, Page::Ours(&foot));
                }
            }
        }
    }

    pub(super) fn response_for(&self, request: u64, location: &ResolvedLocation, status: u16) -> Option<Vec<u8>> {
        apache::custom_response(request, status)
            .unwrap_or_else(|| location.settings.response.error_document(status).and_then(shown))
    }
}

/// Replacement of an error's plain page.
enum Response<'a> {
    Text(&'a [u8]),
    Local(&'a [u8]),
    Away(&'a [u8]),
}

impl Response<'_> {
    /// Determines the kind by its syntax; httpd 1.3 marks a text by a quotation mark.
    fn of(response: &[u8]) -> Response<'_> {
        let is_url = |text: &[u8]| text.starts_with(b"http://") || text.starts_with(b"https://");
        match response {
            [b'"', text @ ..] => Response::Text(text),
            [b'/', ..] => Response::Local(response),
            url if is_url(url) && !url.contains(&b' ') => Response::Away(url),
            text => Response::Text(text),
        }
    }
}

/// An ErrorDocument as `$r->custom_response` returns it.
fn shown(document: &ErrorDocument) -> Option<Vec<u8>> {
    match document {
        ErrorDocument::Default => None,
        ErrorDocument::Text(text) => Some(format!("\"{text}").into_bytes()),
        ErrorDocument::Local(target) | ErrorDocument::Away(target) => Some(target.clone().into_bytes()),
    }
}
