//! `cameleer help COMMAND`: the same text as `cameleer COMMAND --help`.

use clap::{Args, Parser};

/// Print the options of a command.
#[derive(Debug, Args)]
pub struct Help {
    /// Command such as run, serve or check [default: cameleer itself]
    command: Option<String>,
}

impl Help {
    pub fn run(self) -> anyhow::Result<()> {
        let words = std::iter::once("cameleer".to_owned()).chain(self.command).chain(["--help".to_owned()]);
        let words: Vec<String> = words.collect();
        match super::Cli::try_parse_from(&words) {
            Ok(_) => Ok(()),
            // clap returns a help text as an error; exit prints the text on standard output and ends with 0.
            Err(error) => super::tips::improve(error, &words).exit(),
        }
    }
}
