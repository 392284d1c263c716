//! The spelling of field names in the heads that hyper writes: usual capitals, and names that a program or the
//! configuration spells otherwise as they are written there.
//!
//! hyper writes names in lower case, or as a backend wrote them. Another spelling differs in the case of letters alone.
//! Therefore letters are changed in the copy of a head that goes to the socket: hyper's `title_case_headers` takes
//! several times the instructions, and knows no other spelling.

use http::Response;

use crate::base::field_names::{ConfiguredNames, WrittenNames, is_title_case, special};

/// Longest set of names with a spelling of their own, in bytes.
const MAX_BYTES: usize = 4096;
/// Fields that hyper writes by itself, and whose names no program spells.
const OF_HYPER: [&[u8]; 3] = [b"content-length", b"transfer-encoding", b"connection"];

/// Names of a response that are not spelled as usual, each with a line feed after it.
#[derive(Debug, Default)]
pub struct HeadNames {
    /// Spellings of a program and of the configuration.
    own: Vec<u8>,
    /// The fields of a backend's response: hyper writes the names of so many fields as the backend did.
    of_backend: Option<Vec<u8>>,
}

impl HeadNames {
    /// Takes the names out of the extensions of a response.
    pub fn of<B>(response: &mut Response<B>) -> HeadNames {
        let extensions = response.extensions_mut();
        if extensions.is_empty() {
            return HeadNames::default();
        }
        let configured = extensions.remove().map_or_else(Vec::new, |ConfiguredNames(names)| names);
        let (own, of_backend) = match extensions.remove() {
            Some(WrittenNames::OfBackend(fields)) => (configured, Some(fields)),
            Some(WrittenNames::Lines(written)) => (joined(written, &configured), None),
            None => (configured, None),
        };
        HeadNames { own: if own.len() > MAX_BYTES { Vec::new() } else { own }, of_backend }
    }

    /// Spells the names of the head at the beginning of `bytes`. Returns the length of the head.
    pub fn spell(&mut self, bytes: &mut [u8]) -> usize {
        let is_usual = self.own.is_empty() && self.of_backend.is_none();
        let mut length = 0;
        while let Some(line) = bytes.get_mut(length..).filter(|line| !line.is_empty()) {
            let (is_first, is_last) = (length == 0, line.starts_with(b"\r"));
            length += memchr::memchr(b'\n', line).map_or(line.len(), |end| end + 1);
            match (is_first, is_last) {
                (true, _) => {}
                (false, true) => break,
                (false, false) if is_usual => spell_usual(line),
                (false, false) => self.spell_name(line),
            }
        }
        length
    }

    fn spell_name(&mut self, line: &mut [u8]) {
        let Some(name) = line.split_mut(|byte| *byte == b':').next() else { return };
        let is_of_hyper = OF_HYPER.iter().any(|own| name.eq_ignore_ascii_case(own));
        match &mut self.of_backend {
            None if is_of_hyper => _ = capitalize(name),
            None => match take(&mut self.own, name) {
                Some(own) => name.copy_from_slice(&own),
                None => spell_usual(line),
            },
            Some(fields) => {
                let is_as_written = take(fields, name).is_some() && (self.own.is_empty() || !is_of_hyper);
                if !is_as_written {
                    capitalize(name);
                }
                // A name that is spelled as usual may also be that of a rule.
                let is_meant = |own: &&[u8]| !is_of_hyper && is_title_case(name) && own.eq_ignore_ascii_case(name);
                if let Some(own) = lines(&self.own).find(is_meant) {
                    name.copy_from_slice(own);
                }
            }
        }
    }
}

/// The names of the program, and those of the configuration that the program has not written otherwise.
fn joined(mut written: Vec<u8>, configured: &[u8]) -> Vec<u8> {
    let is_new = |name: &&[u8]| !lines(&written).any(|known| known.eq_ignore_ascii_case(name));
    let added: Vec<u8> = lines(configured).filter(is_new).flat_map(|name| [name, b"\n"].concat()).collect();
    written.extend(added);
    written
}

fn lines(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    names.split(|byte| *byte == b'\n').filter(|name| !name.is_empty())
}

/// Takes a name out of `names`: each is the spelling of one field.
fn take(names: &mut Vec<u8>, name: &[u8]) -> Option<Vec<u8>> {
    let mut at = 0;
    let mut is_meant = |line: &&[u8]| {
        let is_meant = line.strip_suffix(b"\n").is_some_and(|own| own.eq_ignore_ascii_case(name));
        at += if is_meant { 0 } else { line.len() };
        is_meant
    };
    let length = names.split_inclusive(|byte| *byte == b'\n').find(&mut is_meant)?.len();
    let mut own: Vec<u8> = names.drain(at..at + length).collect();
    own.truncate(name.len());
    Some(own)
}

/// The names of nearly all responses, as hyper writes them and as usual. A comparison costs less than a look at each
/// letter.
fn common(line: &[u8]) -> Option<&'static [u8]> {
    let (lower, usual): (&[u8], &[u8]) = match line.get(..7)? {
        b"content" if line.starts_with(b"content-type:") => return Some(b"Content-Type:"),
        b"content" => (b"content-length:", b"Content-Length:"),
        b"server:" => return Some(b"Server:"),
        b"date: M" | b"date: T" | b"date: W" | b"date: F" | b"date: S" => return Some(b"Date:"),
        b"last-mo" => (b"last-modified:", b"Last-Modified:"),
        b"accept-" => (b"accept-ranges:", b"Accept-Ranges:"),
        _ => return None,
    };
    line.starts_with(lower).then_some(usual)
}

/// Gives the line of a field the usual spelling of its name.
fn spell_usual(line: &mut [u8]) {
    if let Some(usual) = common(line)
        && let Some(name) = line.get_mut(..usual.len())
    {
        return name.copy_from_slice(usual);
    }
    let length = capitalize(line);
    if let Some(name) = line.get_mut(..length)
        && let Some(usual) = special(name)
    {
        name.copy_from_slice(usual.as_bytes());
    }
}

/// Writes one capital after each hyphen of the name at the beginning of `line`. Returns the length of the name.
fn capitalize(line: &mut [u8]) -> usize {
    let mut before = b'-';
    for (length, byte) in line.iter_mut().enumerate() {
        if *byte == b':' {
            return length;
        }
        if before == b'-' {
            byte.make_ascii_uppercase();
        }
        before = *byte;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut names: HeadNames, head: &str, expected: &str) {
        let mut bytes = [head, "\r\nx-body: a\r\n"].concat().into_bytes();
        let length = names.spell(&mut bytes);
        assert_eq!(
            (length, String::from_utf8_lossy(&bytes)),
            (head.len() + 2, format!("{expected}\r\nx-body: a\r\n").into())
        );
    }

    fn own(names: &str) -> HeadNames {
        HeadNames { own: names.into(), of_backend: None }
    }

    #[test]
    fn names_of_a_head_have_the_usual_capitals() {
        let head = "HTTP/1.1 200 OK\r\nx-1a--b: a-b\r\netag: 1\r\nwww-authenticate: a: b\r\nX_y: \r\n";
        let spelled = "HTTP/1.1 200 OK\r\nX-1a--B: a-b\r\nETag: 1\r\nWWW-Authenticate: a: b\r\nX_y: \r\n";
        check(HeadNames::default(), head, spelled);
        check(HeadNames::default(), "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 204 No Content\r\n");
    }

    #[test]
    fn each_own_spelling_is_that_of_one_field() {
        let head = "HTTP/1.1 200 OK\r\nx-foo: 1\r\ncontent-length: 2\r\nx-foo: 3\r\nx-foo: 4\r\netag: 5\r\n";
        let spelled = "HTTP/1.1 200 OK\r\nX-fOO: 1\r\nContent-Length: 2\r\nx-foo: 3\r\nX-Foo: 4\r\netag: 5\r\n";
        check(own("content-length\nX-fOO\nx-foo\netag\n"), head, spelled);
    }

    #[test]
    fn a_backends_fields_stay_as_they_are_unless_a_rule_may_have_set_them() {
        let of_backend = || Some(b"x-a\ncontent-length\netag\n".to_vec());
        let head = "HTTP/1.1 200 OK\r\nx-a: 1\r\nx-a: 2\r\ncontent-length: 3\r\nEtag: 4\r\nserver: 5\r\n";
        let spelled = "HTTP/1.1 200 OK\r\nx-a: 1\r\nX-A: 2\r\ncontent-length: 3\r\nEtag: 4\r\nServer: 5\r\n";
        check(HeadNames { own: Vec::new(), of_backend: of_backend() }, head, spelled);
        let spelled = "HTTP/1.1 200 OK\r\nx-a: 1\r\nX-A: 2\r\nContent-Length: 3\r\nETAG: 4\r\nServer: 5\r\n";
        check(HeadNames { own: b"ETAG\n".to_vec(), of_backend: of_backend() }, head, spelled);
    }
}
