//! `cameleer recycle`: asks a worker to exit after its current request.

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::client::ServerChoice;

/// Replace a worker after its current request
#[derive(Debug, Args)]
pub struct Recycle {
    /// Number of the worker in `cameleer status`
    worker: u32,
    #[command(flatten)]
    which: ServerChoice,
}

impl Recycle {
    /// Asks the worker to exit. Returns before the worker has exited.
    pub fn run(self) -> anyhow::Result<()> {
        self.which.connect()?.request(Command::Recycle { worker: self.worker }).map(drop)
    }
}
