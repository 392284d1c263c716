//! Files of the kernel, as text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What we read of has a few kilobytes; more than this would be no such file.
const MOST: u64 = 256 << 10;

/// What a file of the kernel says. A program's name in it may be any bytes.
pub(super) fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
