//! `cameleer refork`: returns when the pool is renewed, or reports why it is not.

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::client::Which;

/// Make the worker that has answered most the mold, so that the others share what its requests have loaded.
#[derive(Debug, Args)]
pub struct Refork {
    #[command(flatten)]
    which: Which,
}

impl Refork {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<()> {
        self.which.connect()?.ask(Command::Refork).map(drop)
    }
}
