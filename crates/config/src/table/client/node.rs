//! The server as a node behind a load balancer.

use crate::draft::Draft;
use crate::model::address;
use crate::model::node::ReadinessCheck;
use crate::model::server::{AdminAddress, Listen};
use crate::table::row::{Effect, MANY, Row, SERVER, duration, rows, word, words};

/// Maximum number of checks: each is a process that runs every few seconds.
const MAX_CHECKS: usize = 32;

pub static ROWS: &[Row] = rows![
    "cameleer.c",
    duration("ShutdownDelay", SERVER, |d, time| d.config.node.shutdown_delay = time)
        .default("0", "only a load balancer needs time to send requests elsewhere"),
    "Time for which the server drains before a graceful stop: `/readyz` is 503, the agent check reports `drain`, \
     requests are still answered, and connections are closed after their next response. It should be longer than the \
     balancer needs to notice. A second TERM ends it. `cameleer drain` uses it, too.",
    word("AgentCheckListen", SERVER, "address:port", agent_check_listen)
        .effect(Effect::Start)
        .because("only HAProxy asks in this way"),
    "Address of HAProxy's agent check: the monitor answers each connection with a line that has the weight in percent \
     (`up 75%`), by the workers that are free, or `drain`, `maint` or `down`. It needs no token: the line says \
     nothing else. May be repeated.",
    duration("SlowStart", SERVER, |d, time| d.config.node.slow_start = time)
        .default("0", "workers share the code that the mold has loaded, and are fast from their first request on"),
    "Time in which the weight of AgentCheckListen and of LoadReport climbs after a start, a reload and a drain, while \
     caches and connections to databases are filled.",
    words(
        "ReadinessCheck",
        SERVER,
        "name tcp://host:port|http://host:port/path|perl:Package::sub [interval=5s] [timeout=1s] [fail=3]",
        2..=MANY,
        readiness_check
    )
    .because("only the site knows what it needs"),
    "A service without which the server is not ready: `/readyz` is 503 and names it, from the start until the first \
     success, and after `fail` failures in a row. A child of the mold connects, gets the page (status 200 to 399), or \
     calls the sub (a true value). One that dies, or takes longer than `timeout`, has failed.",
    word("RetryStatus", SERVER, "503|425|429", retry_status)
        .default("503", "clients and balancers understand it without configuration"),
    "Status of a request that was refused before a program began it: the queue is full, it waited too long, or the \
     server is overloaded. Programs answer 503, too, and HAProxy distinguishes responses by their status alone: with \
     425, which no program sends, `retry-on 425` repeats only what was not begun.",
    word("LoadReport", SERVER, "off|orca", load_report).default("off", "clients could see how busy the server is"),
    "`orca` adds the header `endpoint-load-metrics` to responses, from which Envoy computes weights \
     (client_side_weighted_round_robin): the use of processors, memory and workers, and requests and errors a second. \
     The proxy should remove it.",
];

fn agent_check_listen(draft: &mut Draft, word: &str) -> Result<(), String> {
    let listen = address::listen(word)?;
    if !word.contains(':') || matches!(listen, Listen::Unix(_)) {
        return Err(format!("expected address:port, got \"{word}\""));
    }
    let monitor = &mut draft.config.monitor;
    if monitor.agents.iter().chain(&monitor.listen).any(|known| known.listen == listen) {
        return Err(format!("duplicate address {word}; remove one of the two lines"));
    }
    monitor.agents.push(AdminAddress { listen, at: draft.at.clone() });
    Ok(())
}

fn readiness_check(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let check = ReadinessCheck::parse(args)?;
    let checks = &mut draft.config.node.checks;
    if checks.iter().any(|known| known.name == check.name) {
        return Err(format!("duplicate name \"{}\"; give each check another name", check.name));
    }
    if checks.len() == MAX_CHECKS {
        return Err(format!("more than {MAX_CHECKS} checks; let one sub check several services"));
    }
    checks.push(check);
    Ok(())
}

fn retry_status(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.node.retry_status = match word {
        "503" => None,
        "425" => Some(425),
        "429" => Some(429),
        _ => return Err(format!("expected 503, 425 or 429, got \"{word}\"")),
    };
    Ok(())
}

fn load_report(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.node.reports_load = match word.to_ascii_lowercase().as_str() {
        "off" => false,
        "orca" => true,
        _ => return Err(format!("expected off or orca, got \"{word}\"")),
    };
    Ok(())
}
