//! Comparison of a Digest answer's `uri` with the target of its request.

use percent_encoding::percent_decode;

/// Whether both name the same resource. As in httpd, either may be an absolute URL, whose scheme and host do not count;
/// paths are compared decoded, queries as they are.
pub fn are_same(uri: &str, target: &[u8]) -> bool {
    uri.as_bytes() == target || parts(uri.as_bytes()) == parts(target)
}

fn parts(target: &[u8]) -> (Vec<u8>, Option<&[u8]>) {
    let local = without_host(target);
    let mut halves = local.splitn(2, |byte| *byte == b'?');
    (percent_decode(halves.next().unwrap_or_default()).collect(), halves.next())
}

/// The path and query of an absolute URL; another target unchanged.
fn without_host(target: &[u8]) -> &[u8] {
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(|scheme| target.starts_with(scheme));
    let Some(rest) = scheme.and_then(|scheme| target.strip_prefix(scheme)) else { return target };
    let slash = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    rest.get(slash..).filter(|path| !path.is_empty()).unwrap_or(b"/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_encoding_do_not_count_and_the_query_does() {
        for (uri, target) in
            [("/a", "/a"), ("/%61?q", "/a?q"), ("http://h:1/a", "/a"), ("/", "https://h"), ("/a%", "/a%")]
        {
            assert!(are_same(uri, target.as_bytes()), "{uri}");
        }
        for (uri, target) in [("/a", "/b"), ("/a", "/a?q"), ("/a?%71", "/a?q"), ("/a?", "/a")] {
            assert!(!are_same(uri, target.as_bytes()), "{uri}");
        }
    }
}
