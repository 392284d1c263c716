//! Files of lines that somebody else has written: bounded in each line and in their number.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};

/// No URL is longer, and no line of a log.
const LONGEST: u64 = 64 * 1024;

/// Hands each line of a file to `take` until that has had enough. It may be a pipe; a file without lines is refused, however long.
pub fn each(path: &Path, mut take: impl FnMut(usize, &str) -> anyhow::Result<Enough>) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let size =
            (&mut reader).take(LONGEST).read_until(b'\n', &mut line).with_context(|| path.display().to_string())?;
        if size as u64 == LONGEST {
            bail!("{}:{number}: a line of more than {LONGEST} bytes", path.display());
        }
        if size == 0 || take(number, String::from_utf8_lossy(&line).trim_end())? == Enough::Yes {
            break;
        }
    }
    Ok(())
}

/// Whether further lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// None.
    Yes,
    /// All there are.
    No,
}
