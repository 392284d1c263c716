//! `server-status`: how busy the server is, in the shape of httpd's mod_status: a page for people, `?auto` for programs.

use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use http::Response;
use http::header::{HeaderValue, REFRESH};
use wire::control::{FrontStatus, WorkerState, WorkerStatus};

use super::cpu::Cpu;
use super::number::{short, span};
use super::{HTML, PLAIN, escape, response, with};
use crate::front::request::context::RequestContext;
use crate::front::request::respond::body::BodySource;
use crate::front::routing::Route;

/// The facts that the page and `?auto` show, taken at one moment.
struct Facts {
    name: String,
    software: String,
    now: SystemTime,
    started: SystemTime,
    uptime: u64,
    generation: u32,
    load: Vec<String>,
    accesses: u64,
    bytes: u64,
    duration_ms: u64,
    most_workers: usize,
    cpu: Cpu,
    front: FrontStatus,
}

/// The page. The query's options are mod_status's: `auto`, `notable`, `refresh=seconds`.
pub fn page(context: &RequestContext, route: &Route, query: &str) -> Response<BodySource> {
    let facts = Facts::of(context, route);
    let option = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name));
    let page = match option("auto") {
        Some(_) => response(auto(&facts), PLAIN),
        None => response(html(context, &facts, option("notable").is_none()), HTML),
    };
    let Some(refresh) = option("refresh") else { return page };
    let seconds: u32 = refresh.strip_prefix('=').and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    with(page, REFRESH, HeaderValue::from(seconds.max(1)))
}

impl Facts {
    fn of(context: &RequestContext, route: &Route) -> Facts {
        let shared = &context.services.shared;
        let counters = &shared.counters;
        let front = context.services.status();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Facts {
            name: route.server_name.to_string(),
            software: software(&context.generation.software),
            now: SystemTime::now(),
            started: shared.started,
            uptime: shared.started.elapsed().map_or(0, |up| up.as_secs()),
            generation: context.generation.number,
            load: load.split(' ').take(3).map(str::to_owned).collect(),
            accesses: counters.requests.load(Relaxed),
            bytes: counters.bytes.load(Relaxed),
            duration_ms: counters.duration_us.load(Relaxed) / 1000,
            most_workers: context.generation.config.pool.max_clients as usize,
            cpu: Cpu::of(front.workers.iter().map(|worker| worker.pid)),
            front,
        }
    }

    fn count(&self, state: WorkerState) -> usize {
        self.front.workers.iter().filter(|worker| worker.state == state).count()
    }

    fn per_second(&self, count: f64) -> f64 {
        if self.uptime == 0 { 0.0 } else { count / self.uptime as f64 }
    }

    fn per_request(&self, count: u64) -> f64 {
        if self.accesses == 0 { 0.0 } else { count as f64 / self.accesses as f64 }
    }

    /// The scoreboard: one sign for each place that a worker can have, in the order of their numbers.
    fn scoreboard(&self) -> String {
        let last = self.front.workers.iter().map(|worker| worker.slot as usize + 1).max().unwrap_or(0);
        let mut signs = vec!['.'; self.most_workers.max(last)];
        for worker in &self.front.workers {
            if let Some(place) = signs.get_mut(worker.slot as usize) {
                *place = sign(worker.state);
            }
        }
        signs.into_iter().collect()
    }
}

/// When the program's file was made.
fn built() -> String {
    static BUILT: OnceLock<String> = OnceLock::new();
    let made = || std::env::current_exe()?.metadata()?.modified();
    let text =
        || made().map_or(String::new(), |time| DateTime::<Utc>::from(time).format("%Y-%m-%dT%H:%M:%S").to_string());
    BUILT.get_or_init(text).clone()
}

/// httpd tells its version here whatever ServerTokens says, and monitoring agents take it from behind the first slash.
fn software(told: &str) -> String {
    let (name, components) =
        told.split_once(' ').map_or((told, String::new()), |(name, rest)| (name, format!(" {rest}")));
    match name.contains('/') {
        true => told.to_owned(),
        false => format!("{name}/{}{components}", env!("CARGO_PKG_VERSION")),
    }
}

fn sign(state: WorkerState) -> char {
    match state {
        WorkerState::Starting => 'S',
        WorkerState::Idle => '_',
        WorkerState::Busy => 'W',
        WorkerState::Retiring => 'G',
        WorkerState::Gone => '.',
    }
}

fn time(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%A, %d-%b-%Y %H:%M:%S UTC").to_string()
}

/// The lines of `?auto`: httpd's names in httpd's order, without those that have no counterpart here.
fn auto(facts: &Facts) -> String {
    let load = |at: usize| facts.load.get(at).cloned().unwrap_or_default();
    let lines: Vec<(&str, String)> = vec![
        ("ServerVersion", facts.software.clone()),
        ("ServerMPM", "Cameleer".to_owned()),
        ("Server Built", built()),
        ("CurrentTime", time(facts.now)),
        ("RestartTime", time(facts.started)),
        ("ParentServerConfigGeneration", facts.generation.to_string()),
        ("ParentServerMPMGeneration", facts.generation.saturating_sub(1).to_string()),
        ("ServerUptimeSeconds", facts.uptime.to_string()),
        ("ServerUptime", span(facts.uptime).trim_start().to_owned()),
        ("Load1", load(0)),
        ("Load5", load(1)),
        ("Load15", load(2)),
        ("Total Accesses", facts.accesses.to_string()),
        ("Total kBytes", (facts.bytes / 1024).to_string()),
        ("Total Duration", facts.duration_ms.to_string()),
        ("CPUUser", short(facts.cpu.user)),
        ("CPUSystem", short(facts.cpu.system)),
        ("CPUChildrenUser", short(facts.cpu.children_user)),
        ("CPUChildrenSystem", short(facts.cpu.children_system)),
        ("CPULoad", short(100.0 * facts.per_second(facts.cpu.sum()))),
        ("Uptime", facts.uptime.to_string()),
        ("ReqPerSec", short(facts.per_second(facts.accesses as f64))),
        ("BytesPerSec", short(facts.per_second(facts.bytes as f64))),
        ("BytesPerReq", short(facts.per_request(facts.bytes))),
        ("DurationPerReq", short(facts.per_request(facts.duration_ms))),
        ("BusyWorkers", facts.count(WorkerState::Busy).to_string()),
        ("GracefulWorkers", facts.count(WorkerState::Retiring).to_string()),
        ("IdleWorkers", facts.count(WorkerState::Idle).to_string()),
        ("ConnsTotal", facts.front.connections.to_string()),
        ("ConnsAsyncKeepAlive", facts.front.kept.to_string()),
        ("Scoreboard", facts.scoreboard()),
    ];
    let body: String = lines.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("{}\n{body}", facts.name)
}

fn html(context: &RequestContext, facts: &Facts, as_table: bool) -> String {
    let name = escape(&facts.name);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Server Status</title></head>\n<body>\n\
         <h1>Server Status for {name} (via {})</h1>\n<dl>\n",
        escape(&context.client.local.ip)
    );
    for line in [
        format!("Server Version: {}", escape(&facts.software)),
        format!("Current Time: {}", time(facts.now)),
        format!("Restart Time: {}", time(facts.started)),
        format!("Parent Server Config. Generation: {}", facts.generation),
        format!("Server uptime: {}", span(facts.uptime)),
        format!("Server load: {}", escape(&facts.load.join(" "))),
        format!(
            "Total accesses: {} - Total Traffic: {} kB - Total Duration: {}",
            facts.accesses,
            facts.bytes / 1024,
            facts.duration_ms
        ),
        format!(
            "{} requests/sec - {} B/second - {} B/request - {} ms/request",
            short(facts.per_second(facts.accesses as f64)),
            short(facts.per_second(facts.bytes as f64)),
            short(facts.per_request(facts.bytes)),
            short(facts.per_request(facts.duration_ms))
        ),
        format!(
            "{} requests currently being processed, {} workers gracefully restarting, {} idle workers",
            facts.count(WorkerState::Busy),
            facts.count(WorkerState::Retiring),
            facts.count(WorkerState::Idle)
        ),
        format!("{} connections, {} of them wait for a further request", facts.front.connections, facts.front.kept),
        format!("{} requests wait for a worker", facts.front.queued),
    ] {
        let _ = writeln!(page, "<dt>{line}</dt>");
    }
    page.push_str("</dl><pre>\n");
    for line in facts.scoreboard().as_bytes().chunks(64) {
        let _ = writeln!(page, "{}", String::from_utf8_lossy(line));
    }
    page.push_str(
        "</pre>\n<p>Scoreboard Key: \"_\" Waiting for a request, \"S\" Starting up, \"W\" Working on a request, \
         \"G\" Gracefully finishing, \".\" Open slot with no current process</p>\n",
    );
    match as_table {
        true => table(&mut page, &facts.front.workers),
        false => list(&mut page, &facts.front.workers),
    }
    page + "</body></html>\n"
}

fn table(page: &mut String, workers: &[WorkerStatus]) {
    page.push_str("<table><tr><th>Srv</th><th>PID</th><th>Acc</th><th>M</th><th>SS</th><th>Request</th></tr>\n");
    for worker in workers {
        let _ = writeln!(
            page,
            "<tr><td>{}-{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            worker.slot,
            worker.generation,
            worker.pid,
            worker.requests,
            sign(worker.state),
            worker.since_ms / 1000,
            escape(&worker.request)
        );
    }
    page.push_str("</table>\n");
}

fn list(page: &mut String, workers: &[WorkerStatus]) {
    for worker in workers {
        let _ = writeln!(
            page,
            "<b>Server {}-{}</b> ({}): {} [{:?}] {}<i> {}</i><br>",
            worker.slot,
            worker.generation,
            worker.pid,
            worker.requests,
            worker.state,
            worker.since_ms / 1000,
            escape(&worker.request)
        );
    }
}
