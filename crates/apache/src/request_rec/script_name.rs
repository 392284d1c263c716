//! The border between a path's script name and its extra segments.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use wire::frame::{Field, Flags, Frame};

/// A request's script, as lengths in bytes: of its name in the path, and of its file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    pub script: usize,
    pub file: usize,
}

/// Splits by the front's length, else by the location or the disk.
pub(crate) fn split(frame: &Frame, location: &str) -> Split {
    let (path, file) = (frame.field(Field::Path), frame.field(Field::Filename));
    if file.starts_with(OF_A_BACKEND) {
        return Split { script: path.len(), file: file.len() };
    }
    if let Some(script) = frame.script_length() {
        let rest = if frame.flags().has(Flags::RESOLVED) { &[][..] } else { &path[script..] };
        return Split { script, file: without(file, rest) };
    }
    if file.is_empty() {
        return Split { script: mounted(path, location), file: 0 };
    }
    let kept = remembered(file, frame.received(), || existing(file, look));
    Split { script: without(path, &file[kept..]), file: kept }
}

/// Begins the name in place of a file, as in httpd, where a backend answers; names of files are absolute paths.
const OF_A_BACKEND: &[u8] = b"proxy:";

thread_local!(static KNOWN: RefCell<HashMap<Vec<u8>, (usize, u64)>> = RefCell::default());

/// Time that a split is cached, in µs. The existence and modification time of the script are still checked for each
/// request.
const BELIEVED: u64 = 1_000_000;
/// Maximum number of cached splits: clients choose the names.
const MAX_KNOWN: usize = 1000;

fn remembered(file: &[u8], now: u64, look: impl FnOnce() -> usize) -> usize {
    KNOWN.with_borrow_mut(|known| match known.get(file) {
        Some((kept, at)) if now.saturating_sub(*at) < BELIEVED => *kept,
        _ => {
            let kept = look();
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(file.to_vec(), (kept, now));
            kept
        }
    })
}

/// The length of `whole` without the suffix `rest`; all of `whole` if it has another suffix.
fn without(whole: &[u8], rest: &[u8]) -> usize {
    whole.strip_suffix(rest).unwrap_or(whole).len()
}

fn mounted(path: &[u8], location: &str) -> usize {
    let location = location.trim_end_matches('/').as_bytes();
    match path.strip_prefix(location) {
        Some([] | [b'/', ..]) if !location.is_empty() => location.len(),
        _ => path.len(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    File,
    Folder,
    Nothing,
}

fn look(file: &[u8]) -> FileKind {
    match fs::metadata(OsStr::from_bytes(file)) {
        Ok(it) if it.is_dir() => FileKind::Folder,
        Ok(_) => FileKind::File,
        Err(_) => FileKind::Nothing,
    }
}

/// Length of the prefix of `file` that names a file or folder: up to an existing file, or to the first segment that a
/// folder lacks. A name that exists as a whole costs one file system lookup. Otherwise the path is walked from the
/// root.
fn existing(file: &[u8], look: impl Fn(&[u8]) -> FileKind) -> usize {
    if look(file) != FileKind::Nothing {
        return file.len();
    }
    let slashes = file.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/');
    for end in slashes.map(|(at, _)| at).chain([file.len()]) {
        if look(&file[..end]) != FileKind::Folder {
            return end;
        }
    }
    file.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(file: &[u8]) -> FileKind {
        match file {
            b"/www" | b"/www/cgi" | b"/www/cgi/" => FileKind::Folder,
            b"/www/cgi/a.pl" => FileKind::File,
            _ => FileKind::Nothing,
        }
    }

    #[test]
    fn the_script_ends_at_a_file_or_at_the_first_missing_segment() {
        let cases = [
            ("/www/cgi/a.pl", ""),
            ("/www/cgi/a.pl/x/y", "/x/y"),
            ("/www/cgi/a.pl/", "/"),
            ("/www/cgi/none.pl/x", "/x"),
            ("/www/handler/a/b", "/a/b"),
            ("/www/cgi/", ""),
            ("/www/cgi", ""),
            ("/gone/a/b", "/a/b"),
        ];
        for (file, rest) in cases {
            let kept = existing(file.as_bytes(), disk);
            assert_eq!(&file[kept..], rest, "{file}");
        }
    }

    #[test]
    fn a_mounted_program_gets_what_follows_its_location() {
        for (path, location, length) in
            [("/app/x", "/app", 4), ("/app", "/app/", 4), ("/apple", "/app", 6), ("/x", "/", 2)]
        {
            assert_eq!(mounted(path.as_bytes(), location), length, "{path} {location}");
        }
    }
}
