//! `cameleer man`: prints the man page, from the same source as `--help`.

use clap::{Args, CommandFactory};

/// Section of the manual: 8 is for system administration commands (man(1)).
const SECTION: &str = "8";

/// Print the man page of a command.
#[derive(Debug, Args)]
pub struct Man {
    /// Command such as run, serve, check [default: cameleer itself]
    command: Option<String>,
}

impl Man {
    pub fn run(self) -> anyhow::Result<()> {
        let mut cli = super::Cli::command();
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
