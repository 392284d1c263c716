//! Translation of a request's path to a file and a location.

use super::phases::PhaseEnd;
use super::request_error::log_error;
use crate::location::LocationKey;
use crate::site::Site;
use crate::site::paths::{self, Refused, RequestedHost};

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
    let root = apache::set_by_handlers(request).document_root;
    let of = RequestedHost { document_root: root.as_deref(), ..host(site, request) };
    let paths::TranslatedPath { path, filename, key } = site.paths.translate(path, filename, &of);
    RequestPath { path, filename, key: logged(request, key) }
}

/// The host of a request, and the name after which its folders are named.
pub(super) fn host(site: &Site, request: u64) -> RequestedHost<'static> {
    let host = apache::requested(request).host;
    let served = site.config.has_virtual_folders(host).then(|| {
        let apache::AskedServer { host_header, address, is_secure } = apache::asked_server(request);
        site.config.served_name(host, &host_header, if is_secure { 443 } else { 80 }, &address)
    });
    RequestedHost { host, served, document_root: None }
}

/// Logs a refusal.
pub(super) fn logged(request: u64, key: Result<LocationKey, Refused>) -> Result<LocationKey, PhaseEnd> {
    key.map_err(|(status, why)| {
        log_error(request, &why);
        PhaseEnd(status)
    })
}
