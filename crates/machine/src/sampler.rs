//! The sampler process: measures the memory of the server's processes, one at a time, on request of the master. The
//! kernel walks all pages of the process for it, and blocks on changes of its mappings, which would delay master or
//! front.

use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use wire::channel::Channel;

use crate::memory::{Available, Machine, MemorySizes};

/// Message of the master to the sampler.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToSampler {
    /// Requests a measurement.
    Measure {
        /// The process to measure.
        pid: i32,
    },
}

/// Response of the sampler.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sampled {
    /// The measured process.
    pub pid: i32,
    /// Memory of the process; `None`: it has ended.
    pub sizes: Option<MemorySizes>,
    /// Memory that is still available to the process.
    pub available: Option<Available>,
    /// CPU time of the measurement, in microseconds.
    pub took_us: u64,
}

/// Answers requests until the master ends.
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

/// CPU time of this process.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
