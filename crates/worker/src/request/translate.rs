//! Translation of a request's path to a file and a location.

use super::phases::PhaseEnd;
use super::request_error::log_error;
use crate::location::LocationKey;
use crate::site::Site;
use crate::site::paths::{self, Refused};

/// The file and the location of a request.
pub struct RequestPath {
    /// Without `.` and `..`.
    pub path: Vec<u8>,
    /// Without `.` and `..`.
    pub filename: Vec<u8>,
    /// The location's key, or the status of a refusal, which was logged.
    pub key: Result<LocationKey, PhaseEnd>,
}

/// The file and the location of a path, as the front would find them. Handlers may have set the file, or the document
/// root.
pub(super) fn translate(site: &Site, request: u64, path: &[u8], filename: Option<Vec<u8>>) -> RequestPath {
    let host = apache::requested(request).host;
    let root = apache::set_by_handlers(request).document_root;
    let paths::TranslatedPath { path, filename, key } = site.paths.translate(host, path, filename, root.as_deref());
    RequestPath { path, filename, key: logged(request, key) }
}

pub(super) fn logged(request: u64, key: Result<LocationKey, Refused>) -> Result<LocationKey, PhaseEnd> {
    key.map_err(|(status, why)| {
        log_error(request, &why);
        PhaseEnd(status)
    })
}
