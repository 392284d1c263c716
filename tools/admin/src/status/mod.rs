//! `cameleer status`: a running server as a table, or as JSON.

mod certificates;
mod node;

use std::fmt::Write;

use clap::{Args, ValueEnum};
use wire::control::{
    BroadcastTransportStatus, FrontStatus, MemberStatusReport, ResponseTimes, ServerCounts, ShareStatus,
    SharedStoreStatus, WorkerState, WorkerStatus,
};
use wire::fcgid::{ProgramProcess, ProgramProcessState, ProgramStatus};

use base::printable;
use machine::memory::Machine;
use master::sockets::control_socket::Command;
use status::auto::StatusFacts;
use status::health;
use status::{FastcgiProgram, MoldStatus, Usages};
use toolkit::client::{Server, ServerChoice};
use toolkit::units::{duration, size};

/// Show the status of a running server and its workers.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    which: ServerChoice,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the format of httpd's server-status?auto
    #[arg(long, conflicts_with = "json")]
    auto: bool,
    /// Exit with 1 unless the server lives (healthz) or is ready (readyz)
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true, conflicts_with_all = ["json", "auto"])]
    check: Option<HealthCheck>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HealthCheck {
    /// Master and front answer.
    Healthz,
    /// Workers are ready, and the server does not stop.
    Readyz,
}

impl Status {
    /// Prints the status of the selected server.
    pub fn run(self) -> anyhow::Result<()> {
        let mut server = self.which.connect()?;
        let answer = server.request(Command::Status)?;
        let status = answer.status.ok_or_else(|| anyhow::anyhow!("the server sent an invalid answer"))?;
        if let Some(check) = self.check {
            let checked = match check {
                HealthCheck::Healthz => health::is_alive(&status),
                HealthCheck::Readyz => health::is_ready(&status),
            };
            return checked.map_err(anyhow::Error::msg).and_then(|()| toolkit::print("ok\n"));
        }
        let text = match self.json {
            _ if self.auto => printable::lines(&auto(&status)?),
            true => printable::json(&(json(&status, &usages(&server, &status))? + "\n")),
            false => printable::lines(&table(&status, &usages(&server, &status))),
        };
        // Ignore a closed pipe: `cameleer status
        // head` is no failure.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
        Ok(())
    }
}

fn auto(status: &status::ServerStatus) -> anyhow::Result<String> {
    Ok(StatusFacts::of(status).ok_or_else(|| anyhow::anyhow!("the front does not answer"))?.auto())
}

/// Reads the usage of each worker from the kernel, unless the server's process ids are of another container.
fn usages(server: &Server, status: &status::ServerStatus) -> Usages {
    if !server.shares_our_numbers() {
        return Usages::default();
    }
    let machine = Machine::default();
    Usages::of(status.workers(), |pid| Some(machine.sizes(pid)?.private))
}

fn json(status: &status::ServerStatus, usages: &Usages) -> serde_json::Result<String> {
    let mut json = serde_json::to_value(status)?;
    usages.add_to(&mut json);
    serde_json::to_string_pretty(&json)
}

fn table(status: &status::ServerStatus, usages: &Usages) -> String {
    let mut text = String::new();
    let up = duration(status.uptime_ms.max(status.uptime_s * 1000).max(1));
    let origin = printable::line(&status.origin);
    let _ = writeln!(text, "cameleer {}  pid {}  up {up}  {origin}", status.version, status.pid);
    let _ = writeln!(text, "listens on {}", printable::line(&status.listen.join(", ")));
    node::lines(status, &mut text);
    for generation in &status.generations {
        let status::GenerationStatus { generation, state, mold_pid, refork, workers, molds } = generation;
        let mold = match molds.is_empty() {
            true => format!("  mold {mold_pid}{}", reforked(*refork)),
            false => String::new(),
        };
        let _ = writeln!(text, "generation {generation}  {state:?}{mold}  {workers} workers");
        molds.iter().for_each(|mold| pool(mold, status, &mut text));
    }
    if let (Some(budget), Some(used)) = (status.memory.budget, status.memory.used) {
        let _ = writeln!(text, "memory {} of a budget of {}", size(used), size(budget));
    }
    if let Some(saved) = status.memory.refork_saves {
        let _ = writeln!(
            text,
            "refork would save about {} (Refork auto); cameleer advise names what it shares",
            size(saved)
        );
    }
    status.programs.iter().for_each(|program| programs(program, &mut text));
    status.certificates.iter().for_each(|one| certificates::managed(one, &mut text));
    match &status.front {
        None => text.push_str("the front does not answer\n"),
        Some(front) => {
            let _ = writeln!(
                text,
                "front {}  {} connections  {} requests ({} by workers)  {} queued",
                status.front_pid, front.connections, front.requests, front.worker_requests, front.queued
            );
            times(front, &mut text);
            connections(front, &mut text);
            overload(front, &mut text);
            certificates::of_files(status, front, &mut text);
            members(front, &mut text);
            transport(front, &mut text);
            stores(front, &mut text);
            ends(&status.counts, &mut text);
            workers(front, usages, status.max_clients, &mut text);
        }
    }
    text
}

fn reforked(refork: u32) -> String {
    if refork > 0 { format!("  refork {refork}") } else { String::new() }
}

/// One line for each pool, with its load if it serves.
fn pool(mold: &status::MoldStatus, status: &status::ServerStatus, text: &mut String) {
    let MoldStatus { pool, perl_generation, pid, refork, workers } = mold;
    let (pool, reforked) = (printable::line(pool), reforked(*refork));
    let busy = status.front.iter().flat_map(|front| &front.pools).find(|it| it.name == mold.pool);
    let busy = busy.map_or(String::new(), |it| {
        let overloaded = if it.overloaded { ", overloaded" } else { "" };
        format!(" of {}, {} busy, {} queued{overloaded}", it.most, it.busy, it.queued)
    });
    let perl = match perl_generation {
        0 => "no Perl".to_owned(),
        number => format!("PerlGeneration {number}"),
    };
    let _ = writeln!(text, "  pool {pool}  {perl}  mold {pid}{reforked}  {workers} workers{busy}");
}

/// Response times and error counts, after the first responses.
fn times(front: &FrontStatus, text: &mut String) {
    let ResponseTimes { request, queue, service } = &front.times;
    for (name, of) in [("requests", request), ("queue", queue), ("workers", service)] {
        if of.count > 0 {
            let [p50, p90, p99, max] =
                [of.p50_us, of.p90_us, of.p99_us, of.max_us].map(|us| format!("{:.1} ms", us as f64 / 1e3));
            let _ = writeln!(text, "{name:<9} 50 % within {p50}, 90 % {p90}, 99 % {p99}, longest {max}");
        }
    }
    let errors = |from: u16| front.codes.range(from..from + 100).map(|(_, count)| count).sum::<u64>();
    let failed = [("4xx", errors(400)), ("5xx", errors(500))];
    if failed.iter().any(|(_, count)| *count > 0) {
        let words: Vec<_> = failed.iter().map(|(class, count)| format!("{count} {class}")).collect();
        let _ = writeln!(text, "answered  {}", words.join(", "));
    }
}

/// Connections handed over to workers, and responses that programs have left with the front.
fn connections(front: &FrontStatus, text: &mut String) {
    if front.handed_over > 0 {
        let _ = writeln!(text, "handed    {} connections to workers", front.handed_over);
    }
    let held = &front.broadcast;
    if held.held() > 0 {
        let _ = writeln!(text, "held      {} streams, {} long polls", held.held_streams, held.held_responses);
    }
}

/// Shed requests and shares, if any.
fn overload(front: &FrontStatus, text: &mut String) {
    if front.overloaded {
        text.push_str("overloaded: the newest requests are served first\n");
    }
    if front.shed.total() > 0 {
        let words = front.shed.by_reason().map(|(reason, count)| format!("{count} {reason}"));
        let _ = writeln!(text, "shed: {}", words.join(", "));
    }
    for ShareStatus { place, most, busy, queued, overloaded, shed } in &front.shares {
        let overloaded = if *overloaded { ", overloaded" } else { "" };
        let place = printable::line(place);
        let _ = writeln!(text, "share {place}  {busy} of {most} workers  {queued} queued  {shed} shed{overloaded}");
    }
}

/// Members of balancers, if any.
fn members(front: &FrontStatus, text: &mut String) {
    for MemberStatusReport { balancer, url, route, state, elected, busy, to_member, from_member } in &front.members {
        let (balancer, url) = (printable::line(balancer), printable::line(url));
        let route = if route.is_empty() { String::new() } else { format!("  route {}", printable::line(route)) };
        let bytes = format!("{to_member} bytes sent, {from_member} received");
        let _ =
            writeln!(text, "balancer {balancer}  {url}  {state}{route}  {elected} requests, {busy} running  {bytes}");
    }
}

/// The store of `BroadcastTransport`, if there is one.
fn transport(front: &FrontStatus, text: &mut String) {
    let Some(transport) = &front.broadcast_transport else { return };
    let BroadcastTransportStatus { store, connected, error, nodes, sent, received, dropped, .. } = transport;
    let state = store_state(*connected, error);
    let store = printable::line(store);
    let _ = writeln!(
        text,
        "broadcast {store}  {state}  {nodes} other servers  {sent} messages sent, {received} received, {dropped} dropped"
    );
}

/// The stores of `LimitStore` and `CacheStore`.
fn stores(front: &FrontStatus, text: &mut String) {
    for SharedStoreStatus { directive, store, connected, error, answered, late, alone, .. } in &front.stores {
        let state = store_state(*connected, error);
        let (directive, store) = (printable::line(directive), printable::line(store));
        let _ = writeln!(
            text,
            "{directive} {store}  {state}  {answered} requests answered, {late} too late, {alone} decided without it"
        );
    }
}

fn store_state(connected: bool, error: &str) -> String {
    match (connected, error) {
        (true, _) => "connected".to_owned(),
        (false, "") => "connecting".to_owned(),
        (false, error) => format!("away: {}", printable::line(error)),
    }
}

/// A FastCGI program, with a line for each of its processes.
fn programs(FastcgiProgram { generation, host_name, program }: &FastcgiProgram, text: &mut String) {
    let ProgramStatus { file, waiting, requests, started, failed, processes, .. } = program;
    let host = if host_name.is_empty() { String::new() } else { format!("  of {}", printable::line(host_name)) };
    let busy = program.count(ProgramProcessState::Busy);
    let _ = writeln!(
        text,
        "fastcgi {}{host}  generation {generation}  {} processes, {busy} busy, {waiting} queued  {requests} requests  \
         {started} started, {failed} ended by themselves",
        printable::line(file),
        processes.len(),
    );
    for ProgramProcess { pid, state, requests, age_s, memory, busy_ms, request } in processes {
        let (state, age, memory) = (state.name(), duration(age_s.saturating_mul(1000)), size(*memory));
        let since = |ms: u64| format!("  for {} {}", duration(ms), printable::line(request));
        let current = busy_ms.map(since).unwrap_or_default();
        let _ = writeln!(
            text,
            "  pid {pid:>7}  {state:<6}  {requests:>8} requests  up {age:>6}  {memory:>7} resident{current}"
        );
    }
}

/// Reasons for which workers ended, and results of reloads, if any.
fn ends(counts: &ServerCounts, text: &mut String) {
    let ends: Vec<_> = counts.exits.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
    if !ends.is_empty() {
        let _ = writeln!(text, "workers ended: {}", ends.join(", "));
    }
    if counts.reloads + counts.failed_reloads > 0 {
        let _ = writeln!(text, "reloads: {} ok, {} failed", counts.reloads, counts.failed_reloads);
    }
}

fn workers(front: &FrontStatus, usages: &Usages, max_clients: u32, text: &mut String) {
    let workers = &front.workers;
    let width =
        workers.iter().map(|worker| worker.pool.len()).max().filter(|width| *width > 0).map(|width| width.max(4));
    let in_pool = |name: &str| width.map_or(String::new(), |width| format!(" {:<width$}", printable::line(name)));
    let of_client = workers.iter().map(|worker| client(worker).len()).max().unwrap_or_default().max(6);
    let busy = workers.iter().filter(|worker| worker.state == WorkerState::Busy).count();
    let _ = writeln!(text, "workers {} of {max_clients}, {busy} busy\n", workers.len());
    let _ = writeln!(
        text,
        "{:>6} {:>4}{} {:>7} {:<11} {:>8} {:>7} {:>7} {:>7} {:>7}  {:<of_client$}  request",
        "worker",
        "gen",
        in_pool("pool"),
        "pid",
        "state",
        "requests",
        "since",
        "private",
        "cpu",
        "waited",
        "client"
    );
    for w in workers {
        let (state, since) = (format!("{} {}", w.activity.sign(), w.activity.word()), duration(w.since_ms));
        let usage = usages.get(w.pid);
        let private = usage.private_bytes.map_or_else(|| "-".to_owned(), size);
        let cpu = usage.cpu_ms.map_or_else(|| "-".to_owned(), duration);
        let waited = w.queue_wait_us.map_or_else(|| "-".to_owned(), |us| duration(us / 1000));
        let line = format!(
            "{:>6} {:>4}{} {:>7} {state:<11} {:>8} {since:>7} {private:>7} {cpu:>7} {waited:>7}  {:<of_client$}  {}",
            w.slot,
            w.generation,
            in_pool(&w.pool),
            w.pid,
            w.requests,
            client(w),
            request(w)
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// The client's address.
fn client(w: &WorkerStatus) -> &str {
    if w.client.is_empty() { "-" } else { &w.client }
}

/// The request as `host GET /path`; in parentheses if it has ended.
fn request(w: &WorkerStatus) -> String {
    // Escape again: a front of an older version may not have escaped it.
    let shown = |request: &str| format!("{} {request}", w.host).trim_start().replace('\n', "\\n");
    match (w.request.as_str(), w.last_request.as_str()) {
        ("", "") => String::new(),
        ("", last) => format!("({})", shown(last)),
        (request, _) => shown(request),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use status::Usage;
    use wire::control::{GenerationState, WorkerActivity};

    #[test]
    fn the_columns_fit_eighty_and_each_worker_has_what_it_does() {
        let worker = |slot, state, request: &str| WorkerStatus {
            slot,
            generation: 2,
            pid: 812 + slot as i32,
            state,
            activity: if slot == 1 { WorkerActivity::Working } else { WorkerActivity::Waiting },
            host: if slot == 1 { "example.org".to_string() } else { String::new() },
            client: if slot == 1 { "192.0.2.1".to_string() } else { String::new() },
            queue_wait_us: (slot == 1).then_some(3_456),
            requests: 4310,
            request: request.to_string(),
            since_ms: 61_000,
            ..WorkerStatus::default()
        };
        let status = status::ServerStatus {
            version: "0.1.0".into(),
            pid: 800,
            uptime_s: 7300,
            uptime_ms: 7_300_400,
            origin: "/srv/site.conf".into(),
            listen: vec!["0.0.0.0:80".into()],
            generation: 2,
            generations: vec![status::GenerationStatus {
                generation: 2,
                state: GenerationState::Serving,
                mold_pid: 805,
                refork: 0,
                workers: 2,
                molds: Vec::new(),
            }],
            max_clients: 2,
            front_pid: 801,
            front: Some(FrontStatus {
                workers: vec![worker(0, WorkerState::Idle, ""), worker(1, WorkerState::Busy, "GET /report")],
                ..FrontStatus::default()
            }),
            ..status::ServerStatus::default()
        };
        let usage = Usage { private_bytes: Some(5_400_000), cpu_ms: Some(12_345) };
        let usages = Usages::from_iter([(813, usage)]);
        assert_eq!(
            table(&status, &usages),
            "cameleer 0.1.0  pid 800  up 2 h  /srv/site.conf\n\
             listens on 0.0.0.0:80\n\
             generation 2  Serving  mold 805  2 workers\n\
             front 801  0 connections  0 requests (0 by workers)  0 queued\n\
             workers 2 of 2, 1 busy\n\
             \n\
             worker  gen     pid state       requests   since private     cpu  waited  client     request\n     \
             0    2     812 _ idle          4310    61 s       -       -       -  -\n     \
             1    2     813 W busy          4310    61 s  5.1 MB    12 s    3 ms  192.0.2.1  example.org GET /report\n"
        );
    }
}
