//! `server-status`: the load of the server in mod_status's format, as HTML or, with `?auto`, for programs.

use std::fmt::Write;

use http::Response;
use http::header::{HeaderValue, REFRESH};
use wire::control::{WorkerState, WorkerStatus};

use super::{HTML, PLAIN, escape, response, with};
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use status::auto::{StatusFacts, time};
use status::{Cpu, short, span};

/// Maximum number of workers whose processor time is read, at 10 µs each.
const MAX_CPU_WORKERS: usize = 200;

/// The page. The query's options are mod_status's: `auto`, `notable`, `refresh=seconds`.
pub fn page(context: &RequestContext, route: &Route, query: &str) -> Response<BodySource> {
    let facts = facts(context, route);
    let option = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name));
    let page = match option("auto") {
        Some(_) => response(facts.auto(), PLAIN),
        None => response(html(context, &facts, option("notable").is_none()), HTML),
    };
    let Some(refresh) = option("refresh") else { return page };
    let seconds: u32 = refresh.strip_prefix('=').and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    with(page, REFRESH, HeaderValue::from(seconds.max(1)))
}

/// The part of the status that the front knows without other processes.
fn facts(context: &RequestContext, route: &Route) -> StatusFacts {
    let front = context.services.status();
    let ours = std::process::id().cast_signed();
    let config = &context.generation.config;
    let most_workers = config.pool_numbers().map(|pool| config.pool_of(pool).max_clients as usize).sum();
    let facts = StatusFacts::new(front, ours, context.generation.number, most_workers);
    StatusFacts { name: route.server_name.to_string(), ..facts }
}

fn html(context: &RequestContext, facts: &StatusFacts, as_table: bool) -> String {
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
            facts.front.requests,
            facts.front.bytes / 1024,
            facts.front.duration_ms
        ),
        format!(
            "{} requests/sec - {} B/second - {} B/request - {} ms/request",
            short(facts.per_second(facts.front.requests as f64)),
            short(facts.per_second(facts.front.bytes as f64)),
            short(facts.per_request(facts.front.bytes)),
            short(facts.per_request(facts.front.duration_ms))
        ),
        format!(
            "{} requests currently being processed, {} workers gracefully restarting, {} idle workers",
            facts.count(WorkerState::Busy),
            facts.count(WorkerState::Retiring),
            facts.count(WorkerState::Idle)
        ),
        format!("{} connections, {} of them idle", facts.front.connections, facts.front.kept),
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
         \"L\" Logging, \"G\" Gracefully finishing, \"I\" Idle cleanup of worker, \".\" Open slot with no current process</p>\n",
    );
    match as_table {
        true => table(&mut page, &facts.front.workers),
        false => list(&mut page, &facts.front.workers),
    }
    page + "</body></html>\n"
}

fn table(page: &mut String, workers: &[WorkerStatus]) {
    page.push_str("<table><tr>");
    for name in ["Srv", "PID", "Acc", "M", "CPU", "SS", "Dur", "Client", "VHost", "Request"] {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr>\n");
    for (place, worker) in workers.iter().enumerate() {
        let cpu = Some(worker.pid).filter(|_| place < MAX_CPU_WORKERS).and_then(Cpu::millis);
        let _ = write!(page, "<tr><td>{}-{}</td>", worker.slot, worker.generation);
        for cell in [
            worker.pid.to_string(),
            worker.requests.to_string(),
            worker.activity.sign().to_string(),
            cpu.map_or_else(|| "-".to_owned(), |cpu| format!("{:.2}", cpu as f64 / 1e3)),
            (worker.since_ms / 1000).to_string(),
            (worker.worked_us / 1000).to_string(),
            worker.client.clone(),
            worker.host.clone(),
            latest(worker).to_owned(),
        ] {
            let _ = write!(page, "<td>{}</td>", escape(&cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str(
        "</table>\n<p>Acc: requests, CPU: processor time in seconds, SS: seconds in this state, \
         Dur: milliseconds with requests</p>\n",
    );
}

fn list(page: &mut String, workers: &[WorkerStatus]) {
    for worker in workers {
        let _ = writeln!(
            page,
            "<b>Server {}-{}</b> ({}): {} [{:?}] {}<i> {} {}</i><br>",
            worker.slot,
            worker.generation,
            worker.pid,
            worker.requests,
            worker.state,
            worker.since_ms / 1000,
            escape(&worker.client),
            escape(latest(worker))
        );
    }
}

/// The current request, or else the last one, as in httpd's table.
fn latest(worker: &WorkerStatus) -> &str {
    if worker.request.is_empty() { &worker.last_request } else { &worker.request }
}
