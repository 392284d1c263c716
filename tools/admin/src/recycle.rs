//! `cameleer recycle`: asks a worker to leave after its current request.

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::client::Which;

/// Ask a worker to leave after its request; another takes its place
#[derive(Debug, Args)]
pub struct Recycle {
    /// Its number, as `cameleer status` shows it
    worker: u32,
    #[command(flatten)]
    which: Which,
}

impl Recycle {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<()> {
        self.which.connect()?.ask(Command::Recycle { worker: self.worker }).map(drop)
    }
}
