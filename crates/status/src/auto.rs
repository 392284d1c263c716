//! `server-status?auto`: the format of httpd's mod_status, which monitoring programs parse, and the data for it.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use wire::control::{FrontStatus, GenerationNumber, WorkerState};

use super::{Cpu, ServerStatus, short, span};

/// Data of the status page and of `?auto`, taken at one moment.
#[derive(Debug)]
pub struct StatusFacts {
    /// Name of the host that was requested, or of the main server.
    pub name: String,
    /// Software with a version, regardless of `ServerTokens`.
    pub software: String,
    /// When the facts were taken, for `CurrentTime`.
    pub now: SystemTime,
    /// Start of the front.
    pub started: SystemTime,
    /// Seconds since the start of the front.
    pub uptime: u64,
    /// The serving generation.
    pub generation: GenerationNumber,
    /// Load averages of the machine over one, five and fifteen minutes.
    pub load: Vec<String>,
    /// Maximum number of workers.
    pub most_workers: usize,
    /// CPU time of the front and its workers.
    pub cpu: Cpu,
    /// Counters since the start of the front, and its workers.
    pub front: FrontStatus,
}

/// Load averages of the machine over one, five and fifteen minutes. The kernel has them ready: reading does not wait.
pub fn load_averages() -> Vec<String> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).map(str::to_owned).collect()
}

impl StatusFacts {
    /// Data for a status of the front with this process id.
    pub fn new(front: FrontStatus, front_pid: i32, generation: GenerationNumber, most_workers: usize) -> StatusFacts {
        let started = UNIX_EPOCH + Duration::from_secs(front.started_s);
        StatusFacts {
            name: front.name.clone(),
            software: software(&front.software),
            now: SystemTime::now(),
            started,
            uptime: started.elapsed().map_or(0, |up| up.as_secs()),
            generation,
            load: load_averages(),
            most_workers,
            cpu: Cpu::of(front_pid, front.workers.iter().map(|worker| worker.pid)),
            front,
        }
    }

    /// Data for a status. `None`: the front has not answered.
    pub fn of(status: &ServerStatus) -> Option<StatusFacts> {
        let front = status.front.clone()?;
        Some(StatusFacts::new(front, status.front_pid, status.generation, status.max_clients as usize))
    }

    /// Workers of all generations and pools.
    pub fn count(&self, state: WorkerState) -> usize {
        self.front.workers.iter().filter(|worker| worker.state == state).count()
    }

    /// Average per second since the start.
    pub fn per_second(&self, count: f64) -> f64 {
        if self.uptime == 0 { 0.0 } else { count / self.uptime as f64 }
    }

    /// Average per request.
    pub fn per_request(&self, count: u64) -> f64 {
        if self.front.requests == 0 { 0.0 } else { count as f64 / self.front.requests as f64 }
    }

    /// One character for each slot of a worker, in the order of slots.
    pub fn scoreboard(&self) -> String {
        let last = self.front.workers.iter().map(|worker| worker.slot as usize + 1).max().unwrap_or(0);
        let mut signs = vec!['.'; self.most_workers.max(last)];
        for worker in &self.front.workers {
            if let Some(place) = signs.get_mut(worker.slot as usize) {
                *place = worker.activity.sign();
            }
        }
        signs.into_iter().collect()
    }

    /// Formats the lines with httpd's names in httpd's order, without lines that Cameleer has no data for.
    pub fn auto(&self) -> String {
        let load = |at: usize| self.load.get(at).cloned().unwrap_or_default();
        let front = &self.front;
        let lines: Vec<(&str, String)> = vec![
            ("ServerVersion", self.software.clone()),
            ("ServerMPM", "Cameleer".to_owned()),
            ("Server Built", built()),
            ("CurrentTime", time(self.now)),
            ("RestartTime", time(self.started)),
            ("ParentServerConfigGeneration", self.generation.to_string()),
            ("ParentServerMPMGeneration", self.generation.saturating_sub(1).to_string()),
            ("ServerUptimeSeconds", self.uptime.to_string()),
            ("ServerUptime", span(self.uptime).trim_start().to_owned()),
            ("Load1", load(0)),
            ("Load5", load(1)),
            ("Load15", load(2)),
            ("Total Accesses", front.requests.to_string()),
            ("Total kBytes", (front.bytes / 1024).to_string()),
            ("Total Duration", front.duration_ms.to_string()),
            ("CPUUser", short(self.cpu.user)),
            ("CPUSystem", short(self.cpu.system)),
            ("CPUChildrenUser", short(self.cpu.children_user)),
            ("CPUChildrenSystem", short(self.cpu.children_system)),
            ("CPULoad", short(100.0 * self.per_second(self.cpu.sum()))),
            ("Uptime", self.uptime.to_string()),
            ("ReqPerSec", short(self.per_second(front.requests as f64))),
            ("BytesPerSec", short(self.per_second(front.bytes as f64))),
            ("BytesPerReq", short(self.per_request(front.bytes))),
            ("DurationPerReq", short(self.per_request(front.duration_ms))),
            ("BusyWorkers", self.count(WorkerState::Busy).to_string()),
            ("GracefulWorkers", self.count(WorkerState::Retiring).to_string()),
            ("IdleWorkers", self.count(WorkerState::Idle).to_string()),
            ("ConnsTotal", front.connections.to_string()),
            ("ConnsAsyncKeepAlive", front.kept.to_string()),
            ("Scoreboard", self.scoreboard()),
        ];
        let body: String = lines.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("{}\n{body}", self.name)
    }
}

/// Modification time of the program's file.
fn built() -> String {
    static BUILT: OnceLock<String> = OnceLock::new();
    let made = || std::env::current_exe()?.metadata()?.modified();
    let text =
        || made().map_or(String::new(), |time| DateTime::<Utc>::from(time).format("%Y-%m-%dT%H:%M:%S").to_string());
    BUILT.get_or_init(text).clone()
}

/// Adds a version to the software name. Monitoring agents parse it after the first slash, and httpd always shows it
/// here.
fn software(identity: &str) -> String {
    let (name, components) =
        identity.split_once(' ').map_or((identity, String::new()), |(name, rest)| (name, format!(" {rest}")));
    match name.contains('/') {
        true => identity.to_owned(),
        false => format!("{name}/{}{components}", env!("CARGO_PKG_VERSION")),
    }
}

/// Formats a time: `Monday, 23-Nov-2026 06:53:32 UTC`.
pub fn time(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%A, %d-%b-%Y %H:%M:%S UTC").to_string()
}
