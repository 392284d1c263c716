//! Comparison of a Digest answer's `uri` with the target of its request.

/// Whether both name the same resource. As in httpd, either may be an absolute URL, whose scheme and host do not count;
/// paths are compared decoded, queries as they are.
pub fn are_same(uri: &str, target: &[u8]) -> bool {
    uri.as_bytes() == target || parts(uri.as_bytes()) == parts(target)
}

fn parts(target: &[u8]) -> (Vec<u8>, Option<&[u8]>) {
    let local = without_host(target);
    let mut halves = local.splitn(2, |byte| *byte == b'?');
    (decoded(halves.next().unwrap_or_default()), halves.next())
}

/// The path and query of an absolute URL; another target unchanged.
fn without_host(target: &[u8]) -> &[u8] {
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(|scheme| target.starts_with(scheme));
    let Some(rest) = scheme.and_then(|scheme| target.strip_prefix(scheme)) else { return target };
    let slash = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    rest.get(slash..).filter(|path| !path.is_empty()).unwrap_or(b"/")
}

fn decoded(path: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(path.len()), path);
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(value) => {
                out.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
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
