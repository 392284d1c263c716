//! A worker becomes the mold of workers to come: what its requests have loaded is shared by them.
//!
//! ```text
//!   worker ── Promote ──▶ hooks, connections end ── fork ──▶ leaves, as any worker
//!                                                     └────▶ mold, a child of the master
//! ```

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use libperl::Interrupted;
use wire::channel::Channel;
use wire::control::{FromMold, GenerationNumber, ToMold};

use super::site::Site;
use super::{WorkerIdentity, log_context};
use base::log;

/// The master, as a mold has it.
pub type Master = Channel<FromMold, ToMold>;

/// A worker may have died so often in its last requests: not at all.
const HEALTHY: u64 = 10;

/// What a worker has done.
#[derive(Debug, Default, Clone, Copy)]
pub struct Record {
    /// Requests that it has answered.
    requests: u64,
    /// Those of them since the last one that died.
    since_death: u64,
}

impl Record {
    /// One more; `died`: Perl did.
    pub fn answered(&mut self, died: bool) {
        self.requests += 1;
        self.since_death = if died { 0 } else { self.since_death + 1 };
    }

    /// Requests that it has answered.
    pub fn requests(self) -> u64 {
        self.requests
    }

    fn is_healthy(self) -> bool {
        self.since_death >= HEALTHY.min(self.requests)
    }
}

/// A mold that has been a worker, before it says so.
pub struct Successor {
    pub master: Master,
    pub generation: GenerationNumber,
    pub site: Rc<Site>,
    requests: u64,
    forked: Instant,
}

/// Forks a mold, which is told about at `control`, or says there why not. `Some` in the mold.
pub fn promote(site: Rc<Site>, control: OwnedFd, worker: WorkerIdentity, record: Record) -> Option<Successor> {
    let master: Master = Channel::new(control);
    let forked = Instant::now();
    match prepare(&site, record).and_then(|()| fork(&site)) {
        Ok(false) => None,
        Ok(true) => Some(Successor { master, generation: worker.generation, site, requests: record.requests, forked }),
        Err(error) => {
            tell(&master, &FromMold::Failed { error });
            None
        }
    }
}

fn prepare(site: &Site, record: Record) -> Result<(), String> {
    if !record.is_healthy() {
        return Err(format!("one of its last {HEALTHY} requests has died"));
    }
    refused(site.perl.require_module("Cameleer::Refork").map(|()| String::new()))?;
    refused(site.perl.ask(c"Cameleer::Refork::prepare", ""))
}

fn refused(said: Result<String, Interrupted>) -> Result<(), String> {
    match said {
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
    /// It becomes what every mold is, and says so; `false`: it cannot, and has said why.
    pub fn settle(&self) -> anyhow::Result<bool> {
        libperl::set_title("cameleer: mold");
        log_context::worker_is_mold();
        sys::outlive_master()?;
        self.site.perl.is_promoted();
        let ours = self.site.error_logs.borrow().descriptors().map(|fd| fd.to_string()).collect::<Vec<_>>().join(" ");
        if let Err(error) = refused(self.site.perl.ask(c"Cameleer::Refork::promoted", &ours)) {
            tell(&self.master, &FromMold::Failed { error });
            return Ok(false);
        }
        self.site.before_forks();
        let fork_us = self.forked.elapsed().as_micros().min(u128::from(u32::MAX)) as u32;
        let pid = nix::unistd::getpid().as_raw();
        self.master.send(&FromMold::Promoted { pid, fork_us, requests: self.requests }, &[])?;
        Ok(true)
    }
}

/// A master that does not want it any more does not hear it.
fn tell(master: &Master, message: &FromMold) {
    if let Err(error) = master.send(message, &[]) {
        log::info("perl", format_args!("no mold is wanted any more: {error}"));
    }
}
