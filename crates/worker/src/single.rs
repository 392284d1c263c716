//! `-X`: one process without a fork, for debuggers and profilers. The worker runs on the main thread, the front on
//! another.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use wire::memory_words;
use wire::transport::packet_buffer;

use super::error_logs::StderrLogs;
use super::site::Site;
use super::{PerlWorker, Wire, WorkerIdentity, start_up};
use config::{Config, Facts};
use sys::{map_words, new_words};

/// Loads the site and answers on `wire` until the front ends; then exits.
pub fn run(config: Config, facts: &Facts, wire: Wire, logs: Vec<OwnedFd>) -> anyhow::Result<()> {
    let mut site = Site::load(config, facts)?;
    site.error_logs = StderrLogs::new(logs)?.into();
    let identity = WorkerIdentity { slot: 0, generation: 1, master: std::process::id(), forked: Instant::now() };
    let port = wire.port(packet_buffer(), &site.config)?;
    site.remember_master(identity.master);
    // No master measures this process, so the words remain 0.
    let (_, words) = new_words(memory_words::COUNT)?;
    PerlWorker::new(site.into(), port, identity, Rc::new(map_words(&words)?)).run();
    Ok(())
}

/// The server software as sent to clients, before Perl is loaded.
pub fn software(config: &Config, facts: &Facts) -> String {
    config.tokens.header(start_up::api_of(config).mod_perl(), start_up::speaks_mod_perl(config, facts), &[])
}
