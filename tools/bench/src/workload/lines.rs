//! Reads files of lines, with limits for the length and the number of lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};

const MAX_BYTES: u64 = 64 * 1024;

/// Passes each line of a file to `take` until it returns `Enough::Yes`. The file may be a pipe; too long a line
/// is an error.
pub fn each(path: &Path, mut take: impl FnMut(usize, &str) -> anyhow::Result<Enough>) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let size =
            (&mut reader).take(MAX_BYTES).read_until(b'\n', &mut line).with_context(|| path.display().to_string())?;
        if size as u64 == MAX_BYTES {
            bail!("{}:{number}: a line of more than {MAX_BYTES} bytes", path.display());
        }
        if size == 0 || take(number, String::from_utf8_lossy(&line).trim_end())? == Enough::Yes {
            break;
        }
    }
    Ok(())
}

/// Whether the reader may stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// The receiver needs no further line.
    Yes,
    /// The receiver needs further lines.
    No,
}
