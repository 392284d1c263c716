//! `cameleer reload`: returns when the new code serves requests, or reports why it does not.

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::client::{Server, ServerChoice};

/// Reload configuration and code; after an error the old ones continue to serve.
#[derive(Debug, Args)]
pub struct Reload {
    #[command(flatten)]
    which: ServerChoice,
}

impl Reload {
    /// Reloads the selected server.
    pub fn run(self) -> anyhow::Result<()> {
        reload(self.which.connect()?)
    }
}

/// Reloads the server and waits for the result.
pub fn reload(mut server: Server) -> anyhow::Result<()> {
    server.request(Command::Reload).map(drop)
}
