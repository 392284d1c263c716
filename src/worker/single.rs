//! `-X`: one process, no fork. The worker runs on the main thread, the front on another; for debuggers and profilers.

use std::os::fd::OwnedFd;
use std::time::Instant;

use super::site::Site;
use super::{Identity, Worker};
use crate::config::{Config, Facts};

/// Loads the site and answers on `socket` until the front leaves; ends the process.
pub fn run(config: Config, facts: &Facts, socket: OwnedFd) -> anyhow::Result<()> {
    let site = Site::load(config, facts)?;
    Worker::new(site, socket, Identity { slot: 0, generation: 1, master: std::process::id(), forked: Instant::now() })
        .run()
}
