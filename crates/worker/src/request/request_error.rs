//! Errors of a request in the error log.

/// Logs one line with the requested path.
pub(super) fn log_error(request: u64, why: &str) {
    let path = apache::set_by_handlers(request).uri;
    let message = format!("{}: {why}", String::from_utf8_lossy(&path).escape_debug());
    apache::log_line(apache::Level::Error, &message);
}
