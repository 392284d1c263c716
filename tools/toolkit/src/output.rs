//! Output of commands, and the error for a wrong command line.

use std::io::Write;

/// Writes to standard output. Ignores errors such as a closed pipe (`check
/// head`), so that the exit status is the command's own.
pub fn print(text: &str) -> anyhow::Result<()> {
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// Writes a line to standard error; ignores errors.
pub fn print_error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A wrong command line that clap does not detect. Exit status 2, as for clap's own errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(pub String);
