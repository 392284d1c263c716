//! The master's loop: it owns the clock, the processes and the sockets, passes events to the modules beside this
//! folder, and carries out the actions that they return.
//!
//! ```text
//!   poll ──▶ signals, control socket, channels, ends of processes ──▶ parts: (event, now) ─┐
//!     ▲      deadlines of the parts ───────────────────────────────▶ parts: now ───────────┤
//!     └──────────── messages, forks, kills, answers, log lines ◀────── actions ◀───────────┘
//! ```
//!
//! Only this folder uses [`Master`]; the other modules do not.

mod budget;
mod commands;
mod files;
mod front;
mod generations;
mod inspection;
mod molds;
mod monitor;
mod next;
mod node;
mod prepared;
mod profiling;
mod reaping;
mod refork;
mod reload;
mod sampling;
mod status;
mod stop;
mod tending;
mod turn;
mod workers;

use std::rc::Rc;
use std::time::Instant;

use nix::sys::prctl;
use wire::control::Challenge;

use super::Options;
use super::acme::AcmeSchedule;
use super::announcer::Announcer;
use super::budget::{Sampling, WorkerBudget};
use super::certificates::Certificates;
use super::children::Children;
use super::configuration::{CheckedConfig, ConfigOrigin, expansion};
use super::drain::NodeDrain;
use super::exits::Exits;
use super::front::Supervision;
use super::front_requests::FrontRequests;
use super::generation::GenerationRegister;
use super::inspections::Inspections;
use super::logs::Logs;
use super::memory_grants::MemoryGrants;
use super::monitor::{MonitorFiles, MonitorSchedule};
use super::pool::workers::WorkerRegister;
use super::preload::Preloads;
use super::profiling::ProfilerSchedule;
use super::readiness::ReadinessChecks;
use super::refork::Reforking;
use super::reload::{Reloads, ServerPhase};
use super::signals::Signals;
use super::sizing::{PoolLoad, Sizing};
use super::sockets::control_socket::{ControlClient, ControlReply, ControlSocket};
use super::sockets::listeners::Listeners;
use super::stop::ServerStop;
use base::log;
use machine::capacity::cores;
use next::NextConfig;
use node::RunningCheck;
use prepared::PreparedMold;
use sys::privileges;

/// State of the main loop.
pub(super) struct Master {
    // Source of the configuration.
    origin: ConfigOrigin,
    announcer: Announcer,
    signals: Signals,
    listeners: Listeners,
    logs: Logs,
    certificates: Certificates,
    children: Children,
    grants: MemoryGrants,
    monitor_files: MonitorFiles,
    /// The configuration in force; at the start, the one that is to serve first.
    checked: Rc<CheckedConfig>,
    next: NextConfig,
    /// The mold that waits for the next reload.
    prepared: Option<PreparedMold>,

    // The state machines.
    front: Supervision,
    generations: GenerationRegister<Rc<CheckedConfig>>,
    workers: WorkerRegister,
    sizing: Sizing,
    budget: WorkerBudget,
    sampling: Sampling,
    reloads: Reloads,
    preloads: Preloads,
    refork: Reforking,
    monitor: MonitorSchedule,
    acme: AcmeSchedule,
    profiler: ProfilerSchedule,
    exits: Exits,
    stop: ServerStop,
    drain: NodeDrain,
    checks: ReadinessChecks,
    running_checks: Vec<RunningCheck>,
    /// When the serving generation began to serve.
    serving_since: Option<Instant>,

    // Inspections that clients wait for.
    inspections: Inspections,
    front_requests: FrontRequests,
    /// The challenges that the front is to answer, and their number.
    challenges: (u64, Vec<Challenge>),
    /// When the process that gets certificates hangs.
    acme_until: Option<Instant>,
    /// Dropped last: a program that waits for the end of the connection sees it when everything else is gone.
    control: ControlSocket,
}

impl Master {
    /// Reads the configuration, binds, and starts the first generation.
    pub(super) fn start(options: Options) -> anyhow::Result<Master> {
        let listeners = Listeners::passed()?;
        // Runs before signals are blocked, so that INT can interrupt a configuration whose Perl does not end.
        let checked = Rc::new(expansion::read(&options.origin)?);
        let signals = Signals::block()?;
        prctl::set_child_subreaper(true)?;
        sys::raise_file_limit()?;
        privileges::account(checked.config.user.as_deref(), checked.config.group.as_deref())?;
        checked.config.apply_log_levels(None);
        let now = Instant::now();
        let announcer = Announcer::open(&checked.config, options.on_ready, now)?;
        let control = match &checked.config.control_socket {
            Some(path) => ControlSocket::open(path)?,
            None => ControlSocket::open_default()?,
        };
        let mut master = Master {
            origin: options.origin,
            announcer,
            signals,
            listeners,
            logs: Logs::new(options.in_background)?,
            certificates: Certificates::default(),
            children: Children::default(),
            grants: MemoryGrants::new()?,
            monitor_files: MonitorFiles::open(&checked.config)?,
            checked: checked.clone(),
            next: NextConfig::default(),
            prepared: None,
            front: Supervision::default(),
            generations: GenerationRegister::default(),
            workers: WorkerRegister::default(),
            sizing: Sizing::default(),
            budget: WorkerBudget::new(budget::killed_by_kernel()),
            sampling: Sampling::new(now),
            reloads: Reloads::default(),
            preloads: Preloads::default(),
            refork: Reforking::default(),
            monitor: MonitorSchedule::new(now),
            acme: AcmeSchedule::default(),
            profiler: ProfilerSchedule::default(),
            exits: Exits::default(),
            stop: ServerStop::default(),
            drain: NodeDrain::new(now),
            checks: ReadinessChecks::default(),
            running_checks: Vec::new(),
            serving_since: None,
            inspections: Inspections::default(),
            front_requests: FrontRequests::default(),
            challenges: (0, Vec::new()),
            acme_until: None,
            control,
        };
        master.configure_budget();
        master.sizing.configure(&checked.config.pool, cores());
        master.remember_late_code();
        let begun = master.begin_generation(checked);
        if begun.is_err() {
            master.save_late_code();
        }
        begun?;
        let error_log = master.next.attempt().map(|attempt| attempt.opened.error.clone());
        if let Some(error_log) = error_log {
            master.start_front(&error_log).unwrap_or_else(|error| master.fail(error.into()));
        }
        Ok(master)
    }

    /// Completes the start when the first worker is ready.
    fn announce(&mut self) {
        self.announcer.notify().ready(&self.summary());
        log::notice("master", format_args!("{} serving", self.summary()));
        let config = &self.checked.config;
        let addresses = self.listeners.addresses().map(|listen| (listen.clone(), config.protocol_of(listen)));
        let addresses: Vec<_> = addresses.collect();
        if self.announcer.first_ready(&addresses)
            && let Err(error) = self.logs.renew_standard()
        {
            log::error(
                "master",
                format_args!(
                    "cannot close the standard streams of the terminal: {error}; the program that started the server may wait"
                ),
            );
        }
    }

    /// Cleans up after the last process has ended.
    pub(super) fn finish(&mut self) {
        log::notice("master", "stopped");
        self.logs.finish();
    }

    /// Answers a command, if a client waits for it.
    fn answer(&mut self, client: Option<ControlClient>, answer: &ControlReply) {
        if let Some(client) = client {
            self.control.answer(client, answer);
        }
    }

    /// The phase that decides on requests to reload.
    fn phase(&self) -> ServerPhase {
        match self.generations.serving() {
            _ if self.stop.is_under_way() => ServerPhase::Stopping,
            None => ServerPhase::Starting,
            Some(_) => ServerPhase::Serving,
        }
    }

    /// Whether the server serves requests, so that the front can be queried.
    fn serves(&self) -> bool {
        self.phase() == ServerPhase::Serving && self.children.front.is_some()
    }

    /// `gen=2 workers=5 busy=1`
    fn summary(&self) -> String {
        let serving = self.generations.serving().unwrap_or(0);
        let loads: Vec<PoolLoad> =
            self.generations.serving_pools().into_iter().map(|pool| self.load_of(pool)).collect();
        let (alive, busy) = loads.iter().fold((0, 0), |(alive, busy), of| (alive + of.alive, busy + of.busy));
        format!("gen={serving} workers={alive} busy={busy}")
    }
}
