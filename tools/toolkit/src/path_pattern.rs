//! Which paths are meant: `/page` alone, `/page*` all that begin so.

/// Whether this path is.
pub fn is_meant(path: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == pattern,
    }
}
