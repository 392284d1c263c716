//! The processes that run CGI programs: no interpreter, no page of a mold. One process loads the configuration and only
//! forks, as a mold does; each fork answers one request at a time.
//!
//! ```text
//!   front ── request ──▶ worker ── body ──▶ program
//!         ◀── response ──        ◀─ output ─
//! ```
//!
//! To the front they are the workers of a pool of its own: docs/decisions/0020-cgi-processes.md.

mod fcgid;
mod guard;
mod locations;
mod pool_view;
mod worker;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Instant;

use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getpid};
use wire::board;
use wire::channel::pair;
use wire::control::{FromMold, GenerationNumber, ToMold};
use wire::transport::packet_buffer;

use super::error_logs::StderrLogs;
use super::fcgid::manager;
use super::fcgid::spec::{self, StandingProgram};
use super::forking::{Birth, Forks, Home, MasterChannel};
use base::log;
use config::Config;
use locations::ProgramLocations;
use sys::privileges;
use worker::ProgramWorker;

/// State that a worker needs to run programs.
struct Programs {
    config: Rc<Config>,
    locations: ProgramLocations,
    error_logs: RefCell<StderrLogs>,
    /// Where workers lease FastCGI programs; `None` without such programs.
    manager: Option<OwnedFd>,
    /// Programs of `FastCgiServer`.
    standing: Vec<StandingProgram>,
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
    let standing = spec::standing(&config);
    let Some((master, managed)) = start_manager(&config, master, &standing)? else { return Ok(()) };
    let Managed { manager, process, board } = managed;
    let error_logs = StderrLogs::new(logs)?.into();
    let locations = ProgramLocations::new(config.clone());
    let programs = Programs { locations, config, error_logs, manager, standing };
    let load_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let activity = libperl::activity_address();
    let ready =
        FromMold::Ready { load_ms, software: String::new(), activity, facts: Default::default(), left_out: vec![] };
    master.send(&ready, &board.iter().map(AsRawFd::as_raw_fd).collect::<Vec<_>>())?;
    drop(board);
    sys::outlive_master()?;
    sys::default_child_signal()?;
    let packet = packet_buffer();
    let mut forks = Forks::new(master, generation);
    let (wire, identity) = match forks.serve(&programs) {
        Ok(Some(Birth { wire, identity })) => (wire, identity),
        ended => {
            // The manager ends its programs when nobody can ask any more.
            drop(programs);
            if let Some(process) = process {
                let _ = waitpid(process, None);
            }
            return ended.map(drop);
        }
    };
    drop(forks);
    let port = wire.port(packet, &programs.config)?;
    ProgramWorker::new(programs, port, identity)?.run()
}

/// The process that starts FastCGI programs, and the end at which it is asked.
#[derive(Default)]
struct Managed {
    manager: Option<OwnedFd>,
    process: Option<Pid>,
    /// Where the manager shows its programs: the readers' end.
    board: Option<OwnedFd>,
}

/// Forks the manager of FastCGI programs if the configuration has such programs. `None` in the manager, at its end.
fn start_manager(
    config: &Config,
    master: MasterChannel,
    standing: &[StandingProgram],
) -> io::Result<Option<(MasterChannel, Managed)>> {
    if !config.has_fcgid_programs() {
        return Ok(Some((master, Managed::default())));
    }
    let (ours, its) = pair()?;
    let (writer, reader) = board::create("FastCGI programs")?;
    let parent = getpid();
    if let Some(process) = sys::fork()? {
        let managed = Managed { manager: Some(ours), process: Some(process), board: Some(reader) };
        return Ok(Some((master, managed)));
    }
    // A copy of the channel here would hide the end of its owner from the master.
    drop((ours, master, reader));
    sys::die_with(parent)?;
    let folder = config.spooling.folder.clone().unwrap_or_else(|| "/tmp".into());
    if let Err(error) = manager::run(its, &folder, writer, standing) {
        log::error("fcgid", format_args!("the manager of FastCGI programs ends: {error}"));
    }
    Ok(None)
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
            // Inspections read an interpreter, which a process without Perl lacks.
            ToMold::Inspect { .. } | ToMold::Weigh { .. } | ToMold::Check { .. } => {}
            ToMold::Prepare { .. } | ToMold::Configure { .. } | ToMold::Spawn { .. } | ToMold::Retire => {}
        }
        Ok(())
    }
}
