//! Normalisation of a request's path: percent-decoded once, then resolved, in httpd's order, so that `%2e%2e` is `..`
//! too.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use http::StatusCode;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC};

/// Bytes that httpd escapes in a URL: `ap_proxy_canonenc` for backends, and the function `escape` of expressions.
pub const CANONICAL: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'$')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'+')
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b',')
    .remove(b';')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'/')
    .remove(b'~');

/// Bytes of a path that are escaped in `Location` and in internal redirections: those that httpd escapes.
pub const PATH: &AsciiSet = CANONICAL;

/// Bytes of a value that are escaped in a query, where `&`, `=` and `+` have a meaning.
pub const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Bytes that the target of a request cannot contain unescaped. An escape that is there stays as it is.
pub const NOT_IN_TARGET: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// Bytes that no URL contains unescaped. An escape that is there stays as it is.
pub const NOT_IN_URL: &AsciiSet = &NOT_IN_TARGET.add(b'[').add(b']');

/// Reason why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPath {
    /// Invalid escape, or above the root: 400.
    Malformed,
    /// `%2f` or a zero byte, which no file name contains: 404.
    Impossible,
    /// More segments than [`MAX_SEGMENTS`]: 414.
    TooDeep,
}

impl From<BadPath> for StatusCode {
    fn from(bad: BadPath) -> StatusCode {
        match bad {
            BadPath::Malformed => StatusCode::BAD_REQUEST,
            BadPath::Impossible => StatusCode::NOT_FOUND,
            BadPath::TooDeep => StatusCode::URI_TOO_LONG,
        }
    }
}

/// Maximum number of segments of a path, which bounds all work per segment, here and in programs. Neither sites nor
/// file systems need more.
pub const MAX_SEGMENTS: usize = 1000;

/// `AllowEncodedSlashes`: meaning of `%2f` in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodedSlashes {
    /// Off: the path is refused.
    #[default]
    Refused,
    /// On: a slash, also before `..` and in folder names.
    Decoded,
    /// NoDecode: three characters of a name.
    Kept,
}

/// Normalises a path: `/a//b/../c%20d` becomes `/a/c d`.
pub fn normalise(raw: &[u8]) -> Result<Vec<u8>, BadPath> {
    normalise_with(raw, EncodedSlashes::Refused)
}

/// Normalises a path, with a choice for encoded slashes.
pub fn normalise_with(raw: &[u8], slashes: EncodedSlashes) -> Result<Vec<u8>, BadPath> {
    if raw.first() != Some(&b'/') {
        return Err(BadPath::Malformed);
    }
    let decoded = decode(raw, slashes)?;
    // Empty segments and `.` are work too, so slashes are counted before the path is resolved.
    if decoded.iter().filter(|byte| **byte == b'/').count() > MAX_SEGMENTS {
        return Err(BadPath::TooDeep);
    }
    if is_overlong(&decoded) {
        return Err(BadPath::Malformed);
    }
    if decoded.windows(2).any(|pair| pair == b"//" || pair == b"/.") { resolve(&decoded) } else { Ok(decoded) }
}

/// The decoded path with its repeated slashes. `None` if it has none, or contains `.` or `..`.
pub fn unmerged(raw: &[u8], slashes: EncodedSlashes) -> Option<Vec<u8>> {
    let decoded = decode(raw, slashes).ok()?;
    let climbs = || decoded.split(|byte| *byte == b'/').any(|segment| matches!(segment, b"." | b".."));
    (decoded.windows(2).any(|pair| pair == b"//") && !climbs()).then_some(decoded)
}

/// Whether an index name stays within its folder. `DirectoryIndex` may come from a `.htaccess` file, whose owner must
/// not name files outside of the folder.
pub fn stays_below(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

fn decode(raw: &[u8], slashes: EncodedSlashes) -> Result<Vec<u8>, BadPath> {
    let mut decoded = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            decoded.push(file_byte(byte)?);
            continue;
        }
        let ([high, low], after) = rest.split_first_chunk::<2>().ok_or(BadPath::Malformed)?;
        match (digit(*high)? * 16 + digit(*low)?, slashes) {
            (b'/', EncodedSlashes::Refused) => return Err(BadPath::Impossible),
            (b'/', EncodedSlashes::Kept) => decoded.extend([b'%', *high, *low]),
            (byte, _) => decoded.push(file_byte(byte)?),
        }
        rest = after;
    }
    Ok(decoded)
}

fn file_byte(byte: u8) -> Result<u8, BadPath> {
    if byte == 0 { Err(BadPath::Impossible) } else { Ok(byte) }
}

/// Whether the path contains overlong UTF-8 of a slash or a dot, which an old decoder in a program would accept.
fn is_overlong(path: &[u8]) -> bool {
    path.windows(3).any(|bytes| matches!(bytes, [0xe0, 0x80..=0x9f, 0x80..=0xbf] | [0xf0, 0x80..=0x8f, 0x80..=0xbf]))
        || path.windows(2).any(|bytes| matches!(bytes, [0xc0 | 0xc1, 0x80..=0xbf]))
}

/// Whether `raw` contains `%2f`.
pub fn has_encoded_slash(raw: &[u8]) -> bool {
    raw.windows(3).any(|part| part.eq_ignore_ascii_case(b"%2f"))
}

fn digit(hex: u8) -> Result<u8, BadPath> {
    char::from(hex).to_digit(16).map(|digit| digit as u8).ok_or(BadPath::Malformed)
}

fn resolve(path: &[u8]) -> Result<Vec<u8>, BadPath> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut folder = false;
    for segment in path.split(|byte| *byte == b'/') {
        folder = matches!(segment, b"" | b"." | b"..");
        match segment {
            b"" | b"." => {}
            b".." => drop(kept.pop().ok_or(BadPath::Malformed)?),
            name => kept.push(name),
        }
    }
    let mut resolved = Vec::with_capacity(path.len());
    for name in &kept {
        resolved.push(b'/');
        resolved.extend_from_slice(name);
    }
    if folder {
        resolved.push(b'/');
    }
    Ok(resolved)
}

/// Prefixes of `path` longer than `from` that end at the end of a segment: the folders from the outermost, then
/// the path itself.
pub fn ways(path: &[u8], from: usize) -> impl Iterator<Item = &[u8]> {
    let ends_here = |at: &usize| matches!(path.get(*at), Some(b'/') | None) && path.get(*at - 1) != Some(&b'/');
    (from.saturating_add(1)..path.len().saturating_add(1)).filter(ends_here).filter_map(|end| path.get(..end))
}

/// The greatest number up to `most` for which `holds` is true, where it is true for all smaller ones. Each call may
/// cost a file system lookup: doubling, then bisection, needs few calls.
pub fn longest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut good, mut next) = (0, 1);
    while next <= most && holds(next) {
        (good, next) = (next, 2 * next);
    }
    let mut bad = next.min(most + 1);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        *(if holds(middle) { &mut good } else { &mut bad }) = middle;
    }
    good
}

/// A path as a string for the configuration, which may be Latin-1. A byte that is not UTF-8 is represented by a
/// private-use character, and converted back for the file name. Such characters in the path itself are represented
/// byte by byte, so that different paths have different texts.
pub struct Text(pub String);

const PRIVATE: u32 = 0x10_FF00;

impl Text {
    /// Converts the bytes of a path.
    pub fn new(path: &[u8]) -> Text {
        if let Some(plain) = std::str::from_utf8(path).ok().filter(|text| text.is_ascii()) {
            return Text(plain.to_owned());
        }
        let mut text = String::with_capacity(path.len());
        for chunk in path.utf8_chunks() {
            for part in chunk.valid().split_inclusive(is_private) {
                let plain = part.trim_end_matches(is_private);
                text.push_str(plain);
                text.extend(part[plain.len()..].bytes().map(private_use));
            }
            text.extend(chunk.invalid().iter().copied().map(private_use));
        }
        Text(text)
    }

    /// Converts a file name made from a [`Text`] to its bytes.
    pub fn bytes_of(path: PathBuf) -> PathBuf {
        match path.to_str().filter(|text| text.contains(is_private)) {
            Some(text) => PathBuf::from(OsString::from_vec(Text::bytes_in(text))),
            None => path,
        }
    }

    /// The bytes that a part of a [`Text`] represents.
    pub fn bytes_in(text: &str) -> Vec<u8> {
        if text.is_ascii() {
            return text.as_bytes().to_vec();
        }
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            match is_private(c) {
                true => bytes.push((c as u32 - PRIVATE) as u8),
                false => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        bytes
    }
}

fn private_use(byte: u8) -> char {
    char::from_u32(PRIVATE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn is_private(c: char) -> bool {
    (PRIVATE + 0x80..=PRIVATE + 0xff).contains(&(c as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_normalised() {
        let cases: &[(&str, Result<&str, BadPath>)] = &[
            ("/", Ok("/")),
            ("/a/b", Ok("/a/b")),
            ("/a//b", Ok("/a/b")),
            ("//", Ok("/")),
            ("/a/./b", Ok("/a/b")),
            ("/a/.", Ok("/a/")),
            ("/a/b/..", Ok("/a/")),
            ("/a/../b/", Ok("/b/")),
            ("/a/..", Ok("/")),
            ("/.hidden", Ok("/.hidden")),
            ("/a/..b", Ok("/a/..b")),
            ("/a%20b", Ok("/a b")),
            ("/%41%2e%2e", Ok("/A..")),
            ("/%252e", Ok("/%2e")),
            ("/a/%2e%2E/b", Ok("/b")),
            ("/..", Err(BadPath::Malformed)),
            ("/a/../../etc/passwd", Err(BadPath::Malformed)),
            ("/%2e%2e/etc", Err(BadPath::Malformed)),
            ("/%", Err(BadPath::Malformed)),
            ("/%4", Err(BadPath::Malformed)),
            ("/%zz", Err(BadPath::Malformed)),
            ("/a%2fb", Err(BadPath::Impossible)),
            ("/a%00b", Err(BadPath::Impossible)),
            ("/a\0b", Err(BadPath::Impossible)),
            ("/a\\b%5C", Ok("/a\\b\\")),
            ("/%c0%ae%c0%ae/a", Err(BadPath::Malformed)),
            ("/%e0%80%af", Err(BadPath::Malformed)),
            ("/%f0%80%80%ae", Err(BadPath::Malformed)),
            ("/%c3%a9", Ok("/é")),
            ("", Err(BadPath::Malformed)),
            ("a", Err(BadPath::Malformed)),
        ];
        for (raw, expected) in cases {
            let found = normalise(raw.as_bytes());
            assert_eq!(found, expected.map(|path| path.as_bytes().to_vec()), "{raw}");
        }
    }

    #[test]
    fn an_encoded_slash_is_a_slash_or_part_of_a_name() {
        let cases = [
            ("/a%2fb%2Fc", Ok("/a/b/c"), Ok("/a%2fb%2Fc")),
            ("/a%2f..%2f%2e%2e/b", Err(BadPath::Malformed), Ok("/a%2f..%2f../b")),
            ("/a/%2e%2e%2fb", Ok("/b"), Ok("/a/..%2fb")),
            ("/a%252fb", Ok("/a%2fb"), Ok("/a%2fb")),
            ("/a%00b", Err(BadPath::Impossible), Err(BadPath::Impossible)),
        ];
        for (raw, decoded, kept) in cases {
            for (slashes, expected) in [(EncodedSlashes::Decoded, decoded), (EncodedSlashes::Kept, kept)] {
                let found = normalise_with(raw.as_bytes(), slashes);
                assert_eq!(found, expected.map(|path: &str| path.as_bytes().to_vec()), "{raw} {slashes:?}");
            }
        }
        let many = "/a%2f".repeat(MAX_SEGMENTS / 2 + 1);
        assert_eq!(normalise_with(many.as_bytes(), EncodedSlashes::Decoded), Err(BadPath::TooDeep));
    }

    #[test]
    fn a_path_has_a_bounded_number_of_segments() {
        for segment in ["/a", "/", "/.", "/%61"] {
            assert!(normalise(segment.repeat(MAX_SEGMENTS).as_bytes()).is_ok(), "{segment}");
            assert_eq!(normalise(segment.repeat(MAX_SEGMENTS + 1).as_bytes()), Err(BadPath::TooDeep), "{segment}");
        }
    }

    #[test]
    fn the_prefixes_of_a_path_are_its_folders() {
        let steps = |path: &str, from: usize| -> Vec<String> {
            ways(path.as_bytes(), from).map(|way| String::from_utf8_lossy(way).into_owned()).collect()
        };
        assert_eq!(steps("/srv/www/a/b", 8), ["/srv/www/a", "/srv/www/a/b"]);
        assert_eq!(steps("/a//b/", 0), ["/a", "/a//b"]);
        assert_eq!(steps("/", 0), [""; 0]);
        assert_eq!(steps("a/b", 0), ["a", "a/b"]);
        assert_eq!(steps("/srv", 4), [""; 0]);
    }

    #[test]
    fn the_longest_prefix_is_found_with_few_calls() {
        for (most, length) in [(0, 0), (1, 0), (1, 1), (7, 3), (1000, 0), (1000, 1), (1000, 999), (1000, 1000)] {
            let lookups = std::cell::Cell::new(0);
            let holds = |n| {
                lookups.update(|n| n + 1);
                assert!((1..=most).contains(&n));
                n <= length
            };
            assert_eq!(longest(most, holds), length, "{length} of {most}");
            assert!(lookups.get() <= 20, "{length} of {most}: {} questions", lookups.get());
        }
    }

    #[test]
    fn latin_1_names_are_preserved() {
        for path in [&b"/plain"[..], b"/caf\xe9", "/café".as_bytes(), b"/\xff\x80\xc3", "/a\u{10ffe9}b".as_bytes()] {
            let through = Text::bytes_of(PathBuf::from(Text::new(path).0));
            assert_eq!(through.into_os_string().into_vec(), path);
        }
    }
}
