//! `$r->uri` and `$r->path_info` with the client's repeated slashes. Locations and access rules use the path
//! without them; only programs see them.

use wire::frame::{Field, Frame};

use super::environment::path_as_sent;

/// The path as sent, when it differs from the frame's path by nothing but repeated slashes.
pub(crate) fn uri_as_sent(frame: &Frame) -> Option<Vec<u8>> {
    let sent = path_as_sent(frame)?;
    let mut merged = sent.clone();
    merged.dedup_by(|next, before| *next == b'/' && *before == b'/');
    (merged == frame.field(Field::Path)).then_some(sent)
}

/// The part of `uri` behind its first `length` bytes, counted without repeated slashes.
pub(crate) fn beyond(uri: &[u8], length: usize) -> &[u8] {
    let (mut at, mut merged) = (0, 0);
    while let Some(byte) = uri.get(at) {
        let is_repeated = *byte == b'/' && at > 0 && uri.get(at - 1) == Some(&b'/');
        if merged == length {
            // A script whose name ends with a slash owns all slashes that follow its name.
            let is_its_own = at > 0 && uri.get(at - 1) == Some(&b'/');
            if !(is_repeated && is_its_own) {
                break;
            }
        } else if !is_repeated {
            merged += 1;
        }
        at += 1;
    }
    uri.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn path_info_contains_repeated_slashes() {
        let cases = [
            ("/go.pl/http://x", "/go.pl", "/http://x"),
            ("//a///go.pl//http://x", "/a/go.pl", "//http://x"),
            ("/go.pl", "/go.pl", ""),
            ("/a//", "/a/", ""),
            ("/a//b", "/a/", "b"),
            ("//", "/", ""),
            ("/a//b", "", "/a//b"),
            ("/a", "/a/b/c", ""),
        ];
        for (uri, script, rest) in cases {
            assert_eq!(beyond(uri.as_bytes(), script.len()), rest.as_bytes(), "{uri} {script}");
        }
    }
}
