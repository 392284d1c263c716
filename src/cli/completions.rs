//! `cameleer completions`: what bash, zsh or fish read to complete a command line, from the same source as `--help`.

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

/// Print the completions of a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<()> {
        clap_complete::generate(self.shell, &mut visible(&super::Cli::command()), "cameleer", &mut std::io::stdout());
        Ok(())
    }
}

/// The commands that `--help` lists: bash's generator would offer the hidden ones too.
fn visible(cli: &Command) -> Command {
    let commands = cli.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new("cameleer").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true).subcommands(commands)
}
