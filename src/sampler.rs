//! The sampler: measures the memory of the server's processes, one after the other, as the master asks. For each the kernel
//! walks all pages of a process, and waits where that process changes its mappings: neither master nor front has that time.

use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use wire::channel::Channel;

use crate::memory::{Available, Machine, Sizes};

/// The master to the sampler.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToSampler {
    /// Measure this process.
    Measure {
        /// Its number.
        pid: i32,
    },
}

/// The sampler's answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sampled {
    /// Which process was measured.
    pub pid: i32,
    /// `None`: it has ended.
    pub sizes: Option<Sizes>,
    /// How much more there is for it.
    pub available: Option<Available>,
    /// How much of a processor that took, in microseconds.
    pub took_us: u64,
}

/// Answers until the master has gone.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let master: Channel<Sampled, ToSampler> = Channel::new(control);
    let machine = Machine::default();
    while let Some((ToSampler::Measure { pid }, _)) = master.receive()? {
        let began = processor_time();
        let sizes = machine.sizes(pid);
        let available = machine.available_to(pid);
        let took_us = u64::try_from(processor_time().saturating_sub(began).as_micros()).unwrap_or(u64::MAX);
        master.send(&Sampled { pid, sizes, available, took_us }, &[])?;
    }
    Ok(())
}

/// What this process has used of the processors.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
