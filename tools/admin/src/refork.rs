//! `cameleer refork`: returns when the pool is renewed, or reports why it is not.

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::client::ServerChoice;

/// Promote the worker with the most requests to mold, so that others share the code that its requests loaded.
#[derive(Debug, Args)]
pub struct Refork {
    #[command(flatten)]
    which: ServerChoice,
}

impl Refork {
    /// Reforks the pools and waits for the result.
    pub fn run(self) -> anyhow::Result<()> {
        self.which.connect()?.request(Command::Refork).map(drop)
    }
}
