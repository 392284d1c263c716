//! `cameleer syslog`, which the master starts for logs with the target `syslog`: sends lines to the system's log.

use base::syslog;

#[derive(Debug, clap::Args)]
pub struct Syslog {
    /// Number of the facility
    facility: u8,
    /// Name of the program in each message
    #[arg(long)]
    tag: String,
}

impl Syslog {
    /// Sends the lines of the standard input until its end. The environment may name another socket, for tests.
    pub fn run(self) -> anyhow::Result<()> {
        nix::sys::prctl::set_name(c"cameleer-syslog")?;
        let socket = std::env::var_os("CAMELEER_SYSLOG_SOCKET").unwrap_or_else(|| syslog::SOCKET.into());
        Ok(syslog::run(socket.into(), self.facility, &self.tag)?)
    }
}
