//! What a command prints, and how it refuses a command line.

use std::fmt;
use std::io::Write;

/// Writes to standard output. A reader that has gone, as in `check | head`, is no error: the exit status is that of the command.
pub fn print(text: &str) -> anyhow::Result<()> {
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// Writes a line to standard error, whether or not it can be written.
pub fn print_error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A command line that is wrong in a way that clap does not check. Its exit status is 2, as clap's.
#[derive(Debug)]
pub struct Misuse(pub String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}
