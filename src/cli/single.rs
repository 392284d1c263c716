//! `cameleer serve -X`: everything in one process without a fork, for debuggers and profilers.
//!
//! The worker runs on the main thread, where Perl and gdb expect it. The front has another thread. Two more replace
//! the master: one receives messages of the front, one waits for TERM.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread::spawn;

use nix::sys::socket::{Shutdown, shutdown};
use wire::channel::Channel;
use wire::control::{FromFront, Listener, PoolId, ToFront, WorkerId};

use super::ready;
use base::log;
use config::{ConfigError, Listen, LogTarget, pools};
use master::configuration::expansion;
use master::configuration::{CheckedConfig, ConfigOrigin, Mistakes, address_name};
use master::logs::{Logs, OpenedLogs};
use master::pid_file::PidFile;
use master::sockets::listeners::{BoundSocket, Listeners};

/// Numbers of the only generation and the only worker.
const GENERATION: u32 = 1;
const SLOT: u32 = 0;

/// Serves until TERM, which lets the front finish; INT and similar signals kill the process.
pub fn run(origin: &ConfigOrigin) -> anyhow::Result<()> {
    let ours = Listeners::passed()?;
    sys::raise_file_limit()?;
    let checked = expansion::read(origin)?;
    if let Some(other) = checked.config.more_pools.first() {
        let name = &other.name;
        let why = format!(
            "-X runs a single process, but pool {name} needs another; omit -X, or remove the pool and its places"
        );
        return Err(Mistakes(vec![ConfigError::at(&other.at, why)]).into());
    }
    let bound = ours.for_config(&checked)?;
    let mut logs = Logs::new(false)?;
    let opened = logs.open(&checked.config)?;
    checked.config.apply_log_levels(None);
    opened.take_stderr()?;
    let is_elsewhere = checked.config.error_log != LogTarget::Standard;
    // Errors now go to the error log and, at the end, to the terminal too.
    serve(origin, checked, bound, opened).inspect_err(|error| {
        if is_elsewhere {
            log::crit("master", format_args!("{error:#}"));
        }
        logs.give_stderr_back();
    })
}

fn serve(
    origin: &ConfigOrigin,
    checked: CheckedConfig,
    bound: Vec<BoundSocket>,
    opened: OpenedLogs,
) -> anyhow::Result<()> {
    let pid_file = PidFile::of(&checked.config)?;

    let (masters, fronts) = wire::channel::pair()?;
    let (to_worker, to_front) = wire::channel::pair()?;
    let shared = wire::memory::create()?;
    let master: Arc<Channel<ToFront, FromFront>> = Channel::new(masters).into();
    let names: Vec<Listener> = bound.iter().map(|b| Listener { address: address_name(&b.address) }).collect();
    let configure = ToFront::Configure {
        generation: GENERATION,
        logs: opened.access.len() + opened.hosts.len(),
        listeners: names,
        // Perl is loaded after the front has started, so modules have not registered their names yet.
        software: worker::single::software(&checked.config, checked.facts()),
    };
    let memory = [checked.in_memory()?, checked.identities_in_memory()?];
    let sockets = bound.iter().map(|bound| &bound.fd);
    let fds = memory.iter().chain(&opened.access).chain(&opened.hosts).chain(sockets);
    let fds: Vec<_> = fds.map(|fd| fd.as_raw_fd()).collect();
    master.send(&configure, &fds)?;
    let pool = PoolId { generation: GENERATION, pool: pools::DEFAULT };
    let worker = ToFront::Worker { worker: WorkerId { slot: SLOT, serial: 1 }, pool, adopted: false };
    let ends = [&to_worker, &to_front, &shared].map(AsRawFd::as_raw_fd);
    master.send(&worker, &ends)?;
    master.send(&ToFront::Forked { slot: SLOT, pid: std::process::id().cast_signed() }, &[])?;
    master.send(&ToFront::Activate { generation: GENERATION }, &[])?;

    let protocol = |listen: &Listen| checked.config.protocol_of(listen);
    let addresses: Vec<_> = bound.iter().map(|bound| (bound.address.clone(), protocol(&bound.address))).collect();
    // Copy stdout before Perl makes descriptor 1 a part of the response.
    let mut terminal = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let name = origin.name();
    let announce = move || ready::print_ready(&mut terminal, &name, &addresses);
    let stop = until_term(master.clone())?;
    spawn(move || listen(&master, announce, stop));
    spawn(move || {
        let served = front::run(fronts, std::process::id());
        drop(pid_file);
        // Lets the worker exit, and the process end. Closing the socket would not suffice, since child processes may
        // hold copies.
        shutdown(to_worker.as_raw_fd(), Shutdown::Both)?;
        served
    });
    let facts = checked.facts().clone();
    let mut config = checked.config;
    // No limit: the exit of the worker would end the debugged process.
    config.pool.max_requests = 0..=0;
    let hosts = opened.hosts.iter().map(|log| log.try_clone()).collect::<Result<_, _>>()?;
    worker::single::run(config, &facts, worker::Wire { socket: to_front, memory: shared }, hosts)
}

/// Starts a thread that stops the front when a byte is written to the returned descriptor.
fn until_term(front: Arc<Channel<ToFront, FromFront>>) -> std::io::Result<OwnedFd> {
    let (mut term, stop) = std::io::pipe()?;
    spawn(move || {
        if term.read(&mut [0]).is_ok_and(|count| count > 0) {
            let _ = front.send(&ToFront::Stop, &[]);
        }
    });
    Ok(stop.into())
}

/// Receives messages of the front. Announces the first readiness; ignores messages for a real master.
fn listen(front: &Channel<ToFront, FromFront>, announce: impl FnOnce(), stop: OwnedFd) {
    let mut announce = Some((announce, stop));
    while let Ok(Some((message, _))) = front.receive() {
        match (message, announce.take()) {
            (FromFront::Ready { .. }, Some((announce, stop))) => {
                // Perl's start gave the signals a worker's disposition; restore the default and handle TERM.
                let _ = sys::default_signals().and_then(|()| sys::request_on_term(stop));
                announce();
            }
            (FromFront::Kill { reason, .. }, _) => {
                log::warn("master", format_args!("the only worker is not killed ({reason})"))
            }
            (_, kept) => announce = kept,
        }
    }
}
