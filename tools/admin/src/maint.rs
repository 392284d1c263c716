//! `cameleer maint`: takes a server out of its load balancer, and puts it back.

use clap::{Args, ValueEnum};

use master::sockets::control_socket::Command;
use toolkit::client::ServerChoice;

/// Make a server not ready for load balancers until `maint off`; it answers what still comes
#[derive(Debug, Args)]
pub struct Maint {
    /// Whether the maintenance begins or ends
    #[arg(value_enum)]
    state: OnOff,
    #[command(flatten)]
    which: ServerChoice,
}

/// Argument of `maint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnOff {
    On,
    Off,
}

impl Maint {
    /// Begins or ends the maintenance of the selected server.
    pub fn run(self) -> anyhow::Result<()> {
        self.which.connect()?.request(Command::Maintain { on: self.state == OnOff::On }).map(drop)
    }
}
