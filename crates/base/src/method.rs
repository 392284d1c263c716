//! The numbers of methods in httpd.

/// Methods of httpd 1.3 in the order of their numbers, from 0.
pub const NUMBERED: &str =
    "GET PUT POST DELETE CONNECT OPTIONS TRACE PATCH PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK";
/// httpd's `M_INVALID`: the number of every other method.
pub const INVALID: usize = 15;

/// The number of a method. HEAD counts as GET.
pub fn number(method: &[u8]) -> usize {
    let method = if method == b"HEAD" { b"GET" } else { method };
    NUMBERED.split(' ').position(|name| name.as_bytes() == method).unwrap_or(INVALID)
}
