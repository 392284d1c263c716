//! Descriptor 2 is the error log: the main server's or, during a request, that of the request's host. Output of Perl
//! and of programs that Perl starts is written there, too.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use config::{Config, Host};

#[derive(Default)]
pub struct StderrLogs {
    /// Copy of the main server's log. `None`: no host has its own log.
    main: Option<OwnedFd>,
    /// Logs of [`Config::error_logs`], in the same order.
    own: Vec<OwnedFd>,
}

impl StderrLogs {
    /// Takes the current descriptor 2 as the main server's log.
    pub fn new(own: Vec<OwnedFd>) -> io::Result<StderrLogs> {
        let main = (!own.is_empty()).then(|| io::stderr().as_fd().try_clone_to_owned()).transpose()?;
        let main = main.map(sys::out_of_the_way).transpose()?;
        let own = own.into_iter().map(sys::out_of_the_way).collect::<io::Result<_>>()?;
        Ok(StderrLogs { main, own })
    }

    /// Descriptors held in addition to descriptor 2.
    pub fn descriptors(&self) -> impl Iterator<Item = i32> {
        self.main.iter().chain(&self.own).map(AsRawFd::as_raw_fd)
    }

    /// Replaces a log that was reopened: number 0 is the main server's, higher numbers are those of hosts.
    pub fn renew(&mut self, number: u16, log: OwnedFd) -> io::Result<()> {
        match number.checked_sub(1) {
            None => {
                sys::replace(log.as_raw_fd(), 2)?;
                self.main = self.main.take().map(|_| sys::out_of_the_way(log)).transpose()?;
            }
            Some(index) => {
                if let Some(known) = self.own.get_mut(usize::from(index)) {
                    *known = sys::out_of_the_way(log)?;
                }
            }
        }
        Ok(())
    }

    /// Switches to the log and levels of `host` at the start of a request.
    pub fn enter(&self, config: &Config, host: Option<&Host>) -> io::Result<()> {
        let Some(host) = host.filter(|host| host.logs_errors_itself()) else { return Ok(()) };
        config.apply_log_levels(Some(host));
        match host.error_log.and_then(|index| self.own.get(index)) {
            Some(log) => sys::replace(log.as_raw_fd(), 2),
            None => Ok(()),
        }
    }

    /// Switches back to the main server's log and levels.
    pub fn leave(&self, config: &Config, host: Option<&Host>) -> io::Result<()> {
        if !host.is_some_and(Host::logs_errors_itself) {
            return Ok(());
        }
        config.apply_log_levels(None);
        match &self.main {
            Some(main) => sys::replace(main.as_raw_fd(), 2),
            None => Ok(()),
        }
    }
}
