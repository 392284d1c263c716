//! The processes that run CGI programs: no interpreter, no page of a mold. One process loads the configuration and only
//! forks, as a mold does; each fork answers one request at a time.
//!
//! ```text
//!   front ── request ──▶ worker ── body ──▶ program
//!         ◀── response ──        ◀─ output ─
//! ```
//!
//! To the front they are the workers of a pool of its own: docs/decisions/0020-cgi-processes.md.

mod locations;
mod pool_view;
mod worker;

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use wire::control::{FromMold, GenerationNumber, ToMold};
use wire::transport::packet_buffer;

use super::error_logs::StderrLogs;
use super::forking::{Birth, Forks, Home, MasterChannel};
use config::Config;
use locations::ProgramLocations;
use sys::privileges;
use worker::ProgramWorker;

/// State that a worker needs to run programs.
struct Programs {
    config: Rc<Config>,
    locations: ProgramLocations,
    error_logs: RefCell<StderrLogs>,
}

/// Forks workers for CGI programs until the master retires this process. A forked worker does not return from here.
pub fn run(
    master: MasterChannel,
    generation: GenerationNumber,
    config: Config,
    logs: Vec<OwnedFd>,
) -> anyhow::Result<()> {
    libperl::set_title("cameleer: cgi");
    let started = Instant::now();
    privileges::become_user(config.user.as_deref(), config.group.as_deref())?;
    sys::allow_profiling()?;
    config.apply_log_levels(None);
    let config = Rc::new(config);
    let error_logs = StderrLogs::new(logs)?.into();
    let programs = Programs { locations: ProgramLocations::new(config.clone()), config, error_logs };
    let load_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let activity = libperl::activity_address();
    let ready = FromMold::Ready { load_ms, software: String::new(), activity, facts: Default::default() };
    master.send(&ready, &[])?;
    sys::outlive_master()?;
    sys::default_child_signal()?;
    let packet = packet_buffer();
    let mut forks = Forks::new(master, generation);
    let Some(Birth { wire, identity }) = forks.serve(&programs)? else { return Ok(()) };
    drop(forks);
    let port = wire.port(packet, &programs.config)?;
    ProgramWorker::new(programs, port, identity)?.run()
}

impl Home for Programs {
    fn execute(&self, order: ToMold, fds: std::vec::IntoIter<OwnedFd>) -> anyhow::Result<()> {
        match order {
            ToMold::ProgramFacts { pool, facts } => self.locations.learn(pool, facts),
            ToMold::Logs => {
                for (number, log) in (0..).zip(fds) {
                    self.error_logs.borrow_mut().renew(number, log)?;
                }
            }
            // These messages are about Perl.
            ToMold::Inspect { .. } | ToMold::Weigh { .. } => {}
            ToMold::Configure { .. } | ToMold::Spawn { .. } | ToMold::Retire => {}
        }
        Ok(())
    }
}
