//! `cameleer completions`: completions for bash, zsh and other shells, from the same source as `--help`.

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

/// Print the completions of a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell: bash, zsh, fish, elvish or powershell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<()> {
        clap_complete::generate(
            self.shell,
            &mut visible(&super::super::Cli::command()),
            "cameleer",
            &mut std::io::stdout(),
        );
        Ok(())
    }
}

/// The command line without hidden commands, which bash's generator would include.
fn visible(cli: &Command) -> Command {
    let commands = cli.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new("cameleer").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true).subcommands(commands)
}
