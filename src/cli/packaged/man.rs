//! `cameleer man`: prints a man page, from the same source as `--help` and the reference of directives.

use std::io::Write;

use clap::{Args, CommandFactory};

/// Section of the manual: 8 is for system administration commands (man(1)).
const SECTION: &str = "8";

/// The argument for the page of the configuration file.
const DIRECTIVES: &str = "directives";

/// Print the man page of a command, or of the directives.
#[derive(Debug, Args)]
pub struct Man {
    /// Command such as run, serve, check, or `directives` for cameleer.conf(5) [default: cameleer itself]
    command: Option<String>,
}

impl Man {
    pub fn run(self) -> anyhow::Result<()> {
        if self.command.as_deref() == Some(DIRECTIVES) {
            std::io::stdout().write_all(config::reference::man().as_bytes())?;
            return Ok(());
        }
        let mut cli = super::super::Cli::command().version(env!("CARGO_PKG_VERSION"));
        cli.build();
        let page = match &self.command {
            None => cli,
            Some(name) => {
                let found = cli.find_subcommand(name);
                found.ok_or_else(|| toolkit::Misuse(format!("cameleer has no command {name}")))?.clone()
            }
        };
        clap_mangen::Man::new(page).section(SECTION).render(&mut std::io::stdout())?;
        Ok(())
    }
}
