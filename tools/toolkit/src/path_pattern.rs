//! Patterns of request paths: `/page` matches exactly, `/page*` matches a prefix.

/// Whether `path` matches `pattern`.
pub fn is_meant(path: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == pattern,
    }
}
