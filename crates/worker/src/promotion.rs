//! Promotion: a worker becomes the mold of later workers, which then share the code that its requests have loaded.
//!
//! ```text
//!   worker ── Promote ──▶ hooks, connections end ── fork ──▶ leaves, as any worker
//!                                                     └────▶ mold, a child of the master
//! ```

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use libperl::Interrupted;
use wire::control::{FromMold, GenerationNumber};

use super::forking::MasterChannel;
use super::site::Site;
use super::{WorkerIdentity, log_context};
use base::log;

/// Number of last requests that must not have died before a worker is promoted.
const HEALTHY: u64 = 10;

/// Request counts of a worker, for promotion.
#[derive(Debug, Default, Clone, Copy)]
pub struct Record {
    requests: u64,
    /// Requests answered since the last one in which Perl died.
    since_death: u64,
}

impl Record {
    /// Counts one answered request. `died`: Perl died in it.
    pub fn answered(&mut self, died: bool) {
        self.requests += 1;
        self.since_death = if died { 0 } else { self.since_death + 1 };
    }

    pub fn requests(self) -> u64 {
        self.requests
    }

    fn is_healthy(self) -> bool {
        self.since_death >= HEALTHY.min(self.requests)
    }
}

/// A promoted worker, before it reports to the master.
pub struct Successor {
    pub master: MasterChannel,
    pub generation: GenerationNumber,
    pub site: Rc<Site>,
    requests: u64,
    forked: Instant,
}

/// Forks a mold with `control` as its channel to the master, or reports there why not. Returns `Some` in the new
/// mold.
pub fn promote(site: Rc<Site>, control: OwnedFd, worker: WorkerIdentity, record: Record) -> Option<Successor> {
    let master = MasterChannel::new(control);
    let forked = Instant::now();
    match prepare(&site, record).and_then(|()| fork(&site)) {
        Ok(false) => None,
        Ok(true) => Some(Successor { master, generation: worker.generation, site, requests: record.requests, forked }),
        Err(error) => {
            send(&master, &FromMold::Failed { error });
            None
        }
    }
}

fn prepare(site: &Site, record: Record) -> Result<(), String> {
    if !record.is_healthy() {
        return Err(format!("one of the worker's last {HEALTHY} requests has died"));
    }
    refused(site.perl.require_module("Cameleer::Refork").map(|()| String::new()))?;
    refused(site.perl.call_for_text(c"Cameleer::Refork::prepare", ""))
}

fn refused(outcome: Result<String, Interrupted>) -> Result<(), String> {
    match outcome {
        Ok(reason) if reason.is_empty() => Ok(()),
        Ok(reason) => Err(reason.trim_end().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn fork(site: &Site) -> Result<bool, String> {
    site.perl.before_promotion();
    libperl::next_fork_speaks(true);
    let forked = sys::fork_orphan();
    libperl::next_fork_speaks(false);
    forked.map_err(|error| format!("fork: {error}"))
}

impl Successor {
    /// Turns the process into a mold and reports to the master. Returns `false` after reporting why that failed.
    pub fn settle(&self) -> anyhow::Result<bool> {
        libperl::set_title("cameleer: mold");
        log_context::worker_is_mold();
        sys::outlive_master()?;
        self.site.perl.is_promoted();
        let ours = self.site.error_logs.borrow().descriptors().map(|fd| fd.to_string()).collect::<Vec<_>>().join(" ");
        if let Err(error) = refused(self.site.perl.call_for_text(c"Cameleer::Refork::promoted", &ours)) {
            send(&self.master, &FromMold::Failed { error });
            return Ok(false);
        }
        self.site.before_forks();
        let fork_us = self.forked.elapsed().as_micros().min(u128::from(u32::MAX)) as u32;
        let pid = nix::unistd::getpid().as_raw();
        self.master.send(&FromMold::Promoted { pid, fork_us, requests: self.requests }, &[])?;
        Ok(true)
    }
}

/// Sends a message. A master that no longer wants the mold has closed the channel.
fn send(master: &MasterChannel, message: &FromMold) {
    if let Err(error) = master.send(message, &[]) {
        log::info("perl", format_args!("the promotion was cancelled: {error}"));
    }
}
