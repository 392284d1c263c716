//! `cameleer stop`: returns when the last process has ended.

use clap::Args;

use master::sockets::control_socket::{Command, StopMode};
use toolkit::client::{Server, ServerChoice};

/// Stop a server after its current requests.
#[derive(Debug, Args)]
pub struct Stop {
    #[command(flatten)]
    which: ServerChoice,
    /// Do not wait for current requests
    #[arg(long)]
    fast: bool,
}

impl Stop {
    /// Stops the selected server.
    pub fn run(self) -> anyhow::Result<()> {
        stop(self.which.connect()?, if self.fast { StopMode::Fast } else { StopMode::Graceful })
    }
}

/// Stops the server and waits for its end.
pub fn stop(mut server: Server, how: StopMode) -> anyhow::Result<()> {
    server.request(Command::Stop { how })?;
    server.wait_for_end()
}
