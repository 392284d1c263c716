//! The master: starts, watches and replaces the front, the molds and, through them, the workers; owns the listening
//! sockets and the logs. One thread, no async runtime, no Perl: one loop over `poll` and the next deadline.
//!
//! It trusts nothing that a worker wrote and never waits for anybody.

#![forbid(unsafe_code)]

// What is to be served: read, expanded by its Perl, tried out.
pub mod configuration;

// Processes and the channels to them.
pub mod children;

// Who listens where.
pub mod sockets;

// How many workers there are, and what becomes of each.
pub mod pool;

// A configuration with its mold and its workers, from the start to the end of all three.
pub mod generation;

// How much memory all may have.
mod budget;

// How many workers there should be: by the policy of each pool, and where the configuration leaves that to the load.
mod auto_size;
mod tending;

pub mod certificates;
mod counts;
pub mod logs;
mod purge;
mod recycle;
mod refork;
pub mod reload;
pub mod watchdog;

mod events;
mod front;
mod inspection;
pub mod loaded;
mod monitor;
mod profiling;
mod stop;

pub mod backoff;
pub mod notify;
pub mod pid_file;
pub mod signals;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::unistd::Pid;
use wire::control::{FrontStatus, GenerationNumber, LateCode, PoolId, PoolNumber, ServerCounts, ToFront, ToMold};

use self::auto_size::Following;
use self::backoff::Backoff;
use self::budget::Budget;
use self::certificates::Certificates;
use self::children::Front;
use self::configuration::expansion::Expansion;
use self::configuration::{CheckedConfig, ConfigOrigin};
use self::generation::Generation;
use self::generation::molds::Member;
use self::generation::pools::Tended;
use self::logs::{Logs, Opened};
use self::monitor::Monitoring;
use self::notify::Notify;
use self::pid_file::PidFile;
use self::pool::Counts;
use self::pool::workers::Workers;
use self::profiling::Profiling;
use self::refork::Reforking;
use self::reload::Reloads;
use self::signals::Signals;
use self::sockets::control_socket::{Client, ControlReply, ControlSocket};
use self::sockets::listeners::Listeners;
use self::stop::Stop;
use self::watchdog::Watchdog;
use base::log;
use config::{Listen, Spoken, pools};
use status::{FileId, GenerationStatus, MoldStatus, Status};
use sys::privileges;

/// Between starts of the front: nobody is served meanwhile.
const FRONT_WAITS: Duration = Duration::from_secs(1);
/// How long a `status` waits for the front.
const STATUS_WAIT: Duration = Duration::from_secs(1);

/// What to serve.
pub struct Options {
    /// Where the configuration comes from.
    pub origin: ConfigOrigin,
    /// Called once, when the first worker answers, with the addresses.
    pub on_ready: OnReady,
    /// `on_ready` leaves the terminal.
    pub in_background: bool,
}

/// What is done once when the first worker answers, with the addresses and what is spoken there.
pub type OnReady = Box<dyn FnOnce(&[(Listen, Spoken)])>;

/// Serves until asked to stop.
pub fn run(options: Options) -> anyhow::Result<()> {
    let mut master = Master::start(options)?;
    loop {
        master.turn()?;
        if let Some(result) = master.stopped() {
            master.finish();
            return result;
        }
    }
}

/// How much a status has of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// What a person reads, or a program that wants no more than that.
    Shown,
    /// All that were counted.
    Counted,
}

/// All that the master knows.
struct Master {
    origin: ConfigOrigin,
    on_ready: Option<OnReady>,
    started: Instant,
    signals: Signals,
    notify: Notify,
    pid_file: Option<PidFile>,
    listeners: Listeners,
    logs: Logs,
    certificates: Certificates,
    /// What serves, or at the start is to serve.
    checked: Rc<CheckedConfig>,
    /// Its logs; `None` until the first generation serves.
    opened: Option<Opened>,
    front: Option<Front>,
    front_backoff: Backoff,
    watchdog: Watchdog,
    generations: Vec<Generation>,
    last_generation: GenerationNumber,
    workers: Workers,
    /// By the numbers of pools.
    tended: BTreeMap<PoolNumber, Tended>,
    /// TTIN and TTOU since the last reload.
    shift: i32,
    /// How many workers somebody who measures wants to have, until the next reload.
    sized: Option<u32>,
    /// `MaxClients auto`
    following: Option<Following>,
    reloads: Reloads,
    /// The Perl of the configuration that is to be served next.
    expansion: Option<Expansion>,
    status_asked: Vec<(Client, Detail)>,
    status_by: Option<Instant>,
    /// Who waits for the front to have purged its cache.
    purges: Vec<Client>,
    refork: Reforking,
    inspections: Vec<inspection::Asked>,
    profiling: Profiling,
    /// What molds load besides what the configuration says; grows with reloads (`PerlPreload auto`).
    preload: LateCode,
    budget: Budget,
    monitor: Monitoring,
    counts: ServerCounts,
    unexplained: Vec<counts::Unexplained>,
    /// When the front is asked next what limits of workers need.
    status_due: Instant,
    stop: Option<Stop>,
    /// Dropped last: whoever waits at the other end for our end sees it when all else is gone.
    control: ControlSocket,
}

impl Master {
    fn start(options: Options) -> anyhow::Result<Master> {
        let listeners = Listeners::passed()?;
        // Before the signals are ours: a configuration whose Perl does not end can be interrupted as any program.
        let checked = Rc::new(configuration::expansion::read(&options.origin)?);
        let signals = Signals::block()?;
        prctl::set_child_subreaper(true)?;
        sys::raise_file_limit()?;
        privileges::account(checked.config.user.as_deref(), checked.config.group.as_deref())?;
        checked.config.apply_log_levels(None);
        let pid_file = PidFile::of(&checked.config)?;
        let control = match &checked.config.control_socket {
            Some(path) => ControlSocket::open(path)?,
            None => ControlSocket::open_default()?,
        };
        let mut master = Master {
            origin: options.origin,
            on_ready: Some(options.on_ready),
            started: Instant::now(),
            signals,
            control,
            notify: Notify::from_env(),
            pid_file,
            listeners,
            logs: Logs::new(options.in_background)?,
            certificates: Certificates::default(),
            checked: checked.clone(),
            opened: None,
            front: None,
            front_backoff: Backoff::up_to(FRONT_WAITS),
            watchdog: Watchdog::new(Instant::now()),
            generations: Vec::new(),
            last_generation: 0,
            workers: Workers::default(),
            tended: BTreeMap::new(),
            shift: 0,
            sized: None,
            following: Following::of(&checked.config.pool, None),
            reloads: Reloads::default(),
            expansion: None,
            status_asked: Vec::new(),
            status_by: None,
            purges: Vec::new(),
            refork: Reforking::default(),
            inspections: Vec::new(),
            profiling: Profiling::default(),
            preload: LateCode::default(),
            budget: Budget::new(Instant::now())?,
            monitor: Monitoring::new(&checked.config, Instant::now())?,
            counts: ServerCounts::default(),
            unexplained: Vec::new(),
            status_due: Instant::now(),
            stop: None,
        };
        master.budget.use_config(&checked.config);
        master.begin_generation(checked)?;
        let error_log = master.generations[0].attempt.as_ref().map(|attempt| attempt.opened.error.clone());
        if let Some(error_log) = error_log {
            master.start_front(&error_log).unwrap_or_else(|error| master.fail(error.into()));
        }
        Ok(master)
    }

    /// The first worker answers: the start is over.
    fn announce(&mut self) {
        self.notify.ready(&self.summary());
        log::notice("master", format_args!("{} serving", self.summary()));
        if let Some(on_ready) = self.on_ready.take() {
            let config = &self.checked.config;
            let addresses = self.listeners.addresses().map(|listen| (listen.clone(), config.spoken_at(listen)));
            let addresses: Vec<_> = addresses.collect();
            on_ready(&addresses);
            let renewed = self.logs.renew_standard();
            // It may have left the terminal, and with it descriptor 2.
            if let Err(error) = renewed.and_then(|()| self.opened.iter().try_for_each(Opened::take_stderr)) {
                log::error("master", format_args!("standard streams: {error}"));
            }
        }
    }

    /// Nobody is left.
    fn finish(&mut self) {
        log::notice("master", "stopped");
        self.opened = None;
        self.logs.finish();
    }

    /// USR1.
    fn reopen_logs(&mut self) {
        for failure in self.logs.reopen() {
            log::error("master", format_args!("the old log stays in use: {failure:#}"));
        }
        match self.logs.open(&self.checked.config) {
            Ok(opened) => self.use_logs(opened),
            Err(error) => log::error("master", format_args!("{error:#}")),
        }
        log::notice("master", "logs opened anew");
    }

    /// From now on everybody writes to these.
    fn use_logs(&mut self, opened: Opened) {
        if let Err(error) = opened.take_stderr() {
            log::error("master", format_args!("ErrorLog: {error}"));
        }
        let all = std::iter::once(&opened.error).chain(&opened.access).chain(&opened.hosts).cloned().collect();
        self.tell_front(ToFront::Logs, all);
        for generation in &mut self.generations {
            // The logs of hosts are known by their places in a configuration: an older one has others there.
            let hosts = if Rc::ptr_eq(&generation.checked, &self.checked) { &opened.hosts[..] } else { &[] };
            let logs: Vec<_> = std::iter::once(&opened.error).chain(hosts).cloned().collect();
            let molds = generation.pools.iter_mut().flat_map(|pool| pool.molds.iter_mut());
            molds.for_each(|member| member.mold.peer.send(ToMold::Logs, logs.clone()));
        }
        self.opened = Some(opened);
    }

    /// Answers a command, if somebody waits for it.
    fn tell(&mut self, client: Option<Client>, answer: &ControlReply) {
        if let Some(client) = client {
            self.control.answer(client, answer);
        }
    }

    /// `gen=2 workers=5 busy=1`
    fn summary(&self) -> String {
        let serving = self.serving().unwrap_or(0);
        let counts: Vec<Counts> = self.serving_pools().into_iter().map(|pool| self.counts(pool)).collect();
        let (alive, busy) = counts.iter().fold((0, 0), |(alive, busy), of| (alive + of.alive, busy + of.busy));
        format!("gen={serving} workers={alive} busy={busy}")
    }

    /// Asks the front what only it knows; answered by [`Self::answer_status`].
    fn ask_status(&mut self, client: Client, detail: Detail) {
        self.status_asked.push((client, detail));
        self.status_by.get_or_insert(Instant::now() + STATUS_WAIT);
        match self.front {
            Some(_) => self.tell_front(wire::control::ToFront::Status, vec![]),
            None => self.answer_status(None),
        }
    }

    fn answer_status(&mut self, front: Option<FrontStatus>) {
        self.status_by = None;
        let clients = std::mem::take(&mut self.status_asked);
        if clients.is_empty() {
            return;
        }
        let mut status = self.status(front);
        let (counted, shown): (Vec<_>, Vec<_>) =
            clients.into_iter().partition(|(_, detail)| *detail == Detail::Counted);
        self.tell_status(&counted, status.clone());
        if let Some(front) = &mut status.front {
            front.spreads = None;
        }
        self.tell_status(&shown, status);
    }

    fn tell_status(&mut self, clients: &[(Client, Detail)], status: Status) {
        let answer = ControlReply { status: Some(status), ..ControlReply::ok() };
        clients.iter().for_each(|(client, _)| self.tell(Some(*client), &answer));
    }

    fn status(&self, front: Option<FrontStatus>) -> Status {
        let generation = |g: &Generation| GenerationStatus {
            generation: g.number,
            state: g.state,
            mold_pid: forking(g, pools::DEFAULT).map_or(0, |member| member.mold.pid.as_raw()),
            refork: forking(g, pools::DEFAULT).map_or(0, |member| member.refork),
            workers: u32::try_from(self.workers.of_generation(g.number).count()).unwrap_or(u32::MAX),
            molds: self.mold_status(g),
        };
        Status {
            version: env!("CARGO_PKG_VERSION").to_string(),
            pid: std::process::id().cast_signed(),
            origin: self.origin.name(),
            origin_file: self.origin.file().and_then(FileId::of),
            pid_file: self.pid_file.as_ref().map(PidFile::id),
            uptime_s: self.started.elapsed().as_secs(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            listen: self.listeners.addresses().map(configuration::address_name).collect(),
            generation: self.serving().unwrap_or(0),
            generations: self.generations.iter().map(generation).collect(),
            max_clients: self.look().most_workers(),
            front_pid: self.front.as_ref().map_or(0, |front| front.pid.as_raw()),
            memory: self.memory_status(),
            counts: self.counted(),
            history_file: self.monitor.history_path().map(|path| path.display().to_string()),
            monitor_pid: self.monitor.pid().map(Pid::as_raw),
            front,
        }
    }

    /// Of each pool, where there is more than one.
    fn mold_status(&self, generation: &Generation) -> Vec<MoldStatus> {
        let config = &generation.checked.config;
        let status = |id: PoolId| MoldStatus {
            pool: config.pool_name(id.pool).to_owned(),
            perl_generation: config.perl_of(id.pool).generation.number(),
            pid: forking(generation, id.pool).map_or(0, |member| member.mold.pid.as_raw()),
            refork: forking(generation, id.pool).map_or(0, |member| member.refork),
            workers: u32::try_from(self.workers.of(id).count()).unwrap_or(u32::MAX),
        };
        let all = self.pools_of(generation.number);
        if all.len() > 1 { all.into_iter().map(status).collect() } else { Vec::new() }
    }
}

fn forking(generation: &Generation, pool: PoolNumber) -> Option<&Member> {
    generation.pools.get(usize::from(pool))?.molds.forking()
}
