//! Reader of the kernel's text files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum length in bytes. The files that are read here have a few kilobytes.
const MAX_BYTES: u64 = 256 << 10;

/// Reads a file. Invalid UTF-8, for instance in a program's name, is replaced.
pub(super) fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
