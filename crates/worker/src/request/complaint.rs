//! What is wrong with a request, for the error log.

/// One line in the error log, with the path that was asked for.
pub(super) fn complain(request: u64, why: &str) {
    let path = apache::set_by_handlers(request).uri;
    let message = format!("{}: {why}", String::from_utf8_lossy(&path).escape_debug());
    apache::say(apache::Level::Error, &message);
}
