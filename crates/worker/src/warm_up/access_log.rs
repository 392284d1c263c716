//! The most frequent paths in an access log.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use base::path::normalise;
use config::regular;

/// Bytes read from the end of the log.
const MAX_READ_BYTES: u64 = 8 << 20;
/// Longer paths, in bytes, are ignored.
const MAX_PATH_BYTES: usize = 1024;
/// Maximum number of paths returned. Many may be files, which Perl does not answer.
const CANDIDATES: usize = 10_000;

/// Paths of GETs answered with 200, without queries, the most frequent first. The file may grow during the read.
pub fn most_frequent(file: &Path) -> io::Result<Vec<String>> {
    let (mut file, about) = regular::open(file)?;
    let skipped = about.len().saturating_sub(MAX_READ_BYTES);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    if skipped > 0 {
        // The first line may be incomplete.
        lines.next();
    }
    Ok(ranked(lines))
}

fn ranked<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, path) in lines.filter_map(path_of).enumerate() {
        let (count, last) = counts.entry(path).or_default();
        (*count, *last) = (*count + 1, at);
    }
    let mut ranked: Vec<_> = counts.into_iter().collect();
    // Among equally frequent paths, the one requested last comes first.
    ranked.sort_by_key(|(_, (count, last))| std::cmp::Reverse((*count, *last)));
    ranked.into_iter().take(CANDIDATES).map(|(path, _)| path.to_owned()).collect()
}

/// Parses `host ident user [time] "GET /path?query HTTP/1.1" 200 …`; the part before the quotation mark is ignored.
fn path_of(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (request, after) = line.split_once('"')?.1.split_once('"')?;
    let target = request.strip_prefix("GET ")?.split(' ').next()?;
    let path = target.split('?').next()?;
    let is_fit = path.len() <= MAX_PATH_BYTES && path.bytes().all(|byte| byte.is_ascii_graphic());
    let is_answered = after.strip_prefix(" 200")?.starts_with([' ', '\r']) || after == " 200";
    (is_fit && is_answered && normalise(path.as_bytes()).is_ok()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(request: &str, rest: &str) -> String {
        format!("192.0.2.1 - - [21/Nov/2026:08:00:00 +0000] \"{request}\" {rest}\n")
    }

    #[test]
    fn the_most_frequent_path_is_the_first_whatever_its_query() {
        let log = [
            line("GET /a?x=1 HTTP/1.1", "200 12"),
            line("GET /b HTTP/1.1", "200 12 \"-\" \"agent\""),
            line("GET /a?x=2 HTTP/1.1", "200 12"),
            line("GET /c HTTP/1.0", "200 -"),
        ]
        .concat();
        assert_eq!(ranked(log.as_bytes().split(|byte| *byte == b'\n')), ["/a", "/c", "/b"]);
    }

    #[test]
    fn lines_other_than_successful_gets_are_skipped() {
        for (request, rest) in [
            ("POST /a HTTP/1.1", "200 1"),
            ("GET /a HTTP/1.1", "404 1"),
            ("GET /a HTTP/1.1", "2001 1"),
            ("GET http://x/ HTTP/1.1", "200 1"),
            ("GET /%zz HTTP/1.1", "200 1"),
            ("-", "408 -"),
            ("GET", "200 1"),
        ] {
            assert_eq!(path_of(line(request, rest).trim_end().as_bytes()), None, "{request} {rest}");
        }
        for nonsense in [&b""[..], b"\"", b"\"\"", b"GET / 200", b"\xff\"GET / HTTP/1.1\" 200 1"] {
            assert_eq!(path_of(nonsense), None);
        }
    }

    #[test]
    fn the_end_of_a_long_log_is_read_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("access.log");
        let old = line("GET /old HTTP/1.1", "200 1").repeat(150_000);
        std::fs::write(&file, old + &line("GET /new HTTP/1.1", "200 1").repeat(120_000)).unwrap();
        assert_eq!(most_frequent(&file).unwrap()[0], "/new");
        assert!(most_frequent(Path::new("/dev/zero")).unwrap_err().to_string().contains("a device"));
        assert!(most_frequent(&folder.path().join("none")).is_err());
    }
}
