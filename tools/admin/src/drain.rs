//! `cameleer drain`: takes a server out of its load balancer, and stops it.

use std::time::Duration;

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::client::ServerChoice;

/// Make a server not ready, wait until load balancers have noticed, and stop it after its current requests.
#[derive(Debug, Args)]
pub struct Drain {
    /// Time until the stop, such as 30s; default: ShutdownDelay, or 10s
    #[arg(long = "for", value_name = "TIME", value_parser = config::duration)]
    wait: Option<Duration>,
    /// Make the server ready again
    #[arg(long, conflicts_with = "wait")]
    cancel: bool,
    /// Return at once, not at the end of the server
    #[arg(long, conflicts_with = "cancel")]
    no_wait: bool,
    #[command(flatten)]
    which: ServerChoice,
}

impl Drain {
    /// Drains the selected server, and waits for its end. An error if the drain is cancelled.
    pub fn run(self) -> anyhow::Result<()> {
        let mut server = self.which.connect()?;
        if self.cancel {
            return server.request(Command::CancelDrain).map(drop);
        }
        let wait_ms = self.wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        server.request(Command::Drain { wait_ms })?;
        if self.no_wait { Ok(()) } else { server.wait_for_drain() }
    }
}
