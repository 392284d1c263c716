//! Reports that a process with Perl makes about itself on request, while it has no client request.

mod blame;
mod private_pages;

use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::getpid;
use private_pages::{overlaps, private_pages};
use serde_json::json;
use wire::control::{Inspection, LateCode};
use wire::transport::begin_report;

use super::growth::Growth;
use super::site::Site;
use base::log;

/// CPU time limit of a child that inspects, in seconds.
const MAX_SECONDS: u64 = 20;

/// Facts that only a worker's loop knows.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoopFacts<'a> {
    pub growth: Option<&'a Growth>,
    /// Number of answered requests.
    pub requests: Option<u64>,
}

/// Writes the report `what` as JSON to `into`. `with` holds the descriptors passed with the request. Errors are logged.
pub fn report(site: &Site, facts: LoopFacts<'_>, what: Inspection, into: OwnedFd, with: Vec<OwnedFd>) {
    let report = match what {
        Inspection::Loaded => {
            let module = site.perl.require_module("Cameleer::Inspection");
            let loaded = module.and_then(|()| site.perl.call_for_text(c"Cameleer::Inspection::loaded", ""));
            loaded.map(|object| with_requests(object, facts.requests))
        }
        Inspection::Census => Ok(census(site)),
        Inspection::Growth => Ok(facts.growth.map_or_else(|| "{}".to_owned(), Growth::report)),
        Inspection::Blame => return blame_pages(site, into, with),
    };
    write(report, into, what);
}

/// The JSON object with a further member, if the number is known.
fn with_requests(object: String, requests: Option<u64>) -> String {
    match (object.strip_prefix('{'), requests) {
        (Some(members), Some(requests)) => format!("{{\"requests\":{requests},{members}"),
        _ => object,
    }
}

/// A JSON object: for each class, the number of its objects and their approximate size in bytes.
fn census(site: &Site) -> String {
    let counts = site.perl.census().into_iter().map(|(class, living)| (class, json!([living.count, living.bytes])));
    serde_json::Value::Object(counts.collect()).to_string()
}

/// Reports page owners from a forked child, since the analysis takes memory. The child is an orphan, so that no
/// `wait` of the site sees it. Private pages are listed before the fork, which shares all pages.
fn blame_pages(site: &Site, into: OwnedFd, with: Vec<OwnedFd>) {
    let Ok([pagemap, ours, molds]) = <[OwnedFd; 3]>::try_from(with).map(|fds| fds.map(File::from)) else {
        return log::error("perl", "cannot find unshared data: the message has no descriptors of pagemap and memory");
    };
    let runs = match fs::read_to_string("/proc/self/maps").and_then(|maps| private_pages(&maps, &pagemap)) {
        Ok(runs) => runs,
        Err(error) => return log::error("perl", format_args!("cannot find the private pages: {error}")),
    };
    if let Err(error) = begin_report(into.as_fd()) {
        return log::error("perl", format_args!("cannot find unshared data: {error}"));
    }
    match sys::fork_orphan() {
        Ok(false) => {}
        Ok(true) => {
            libperl::set_title("cameleer: search for unshared data");
            bound_inspection();
            let is_private = |start, length| overlaps(&runs, start, length);
            let report = blame::blame(&site.perl.owned(&is_private), &runs, &ours, &molds);
            write(report, into, Inspection::Blame);
            sys::exit_now(0)
        }
        Err(error) => log::error("perl", format_args!("cannot find unshared data: {error}")),
    }
}

/// Lifts the data limit: the child needs memory beyond the worker's own limit. Limits its CPU time.
fn bound_inspection() {
    let (_, most) = getrlimit(Resource::RLIMIT_DATA).unwrap_or((0, libc::RLIM_INFINITY));
    let _ = setrlimit(Resource::RLIMIT_DATA, most, most);
    let _ = setrlimit(Resource::RLIMIT_CPU, MAX_SECONDS, MAX_SECONDS);
}

/// Writes to `into`, as JSON, the memory that `code` would cost a worker. A child of this mold measures it, so that the
/// mold is unchanged; the end of the child closes `done`.
pub fn weigh(site: &Site, code: &LateCode, into: OwnedFd, done: OwnedFd) {
    let mold = getpid();
    match sys::fork() {
        // The mold reaps the child as a stray.
        Ok(Some(_)) => {}
        Ok(None) => {
            libperl::set_title("cameleer: weighing");
            if sys::die_with(mold).is_ok() {
                let loaded = site.perl.require_module("Cameleer::Advice");
                write(
                    loaded.and_then(|()| site.perl.call_for_text(c"Cameleer::Advice::weigh", &fields(code))),
                    into,
                    "costs",
                );
            }
            drop(done);
            sys::exit_now(0)
        }
        Err(error) => log::error("perl", format_args!("cannot report costs: {error}")),
    }
}

/// Arguments in the format of `Cameleer::Advice`.
fn fields(code: &LateCode) -> String {
    let modules = code.modules.iter().flat_map(|(name, file)| ["module", name, file]);
    let scripts = code.scripts.iter().flat_map(|(key, file)| ["script", key, file]);
    modules.chain(scripts).collect::<Vec<_>>().join("\0")
}

fn write(report: Result<String, impl Display>, into: OwnedFd, what: impl std::fmt::Debug) {
    let written = match report {
        Ok(text) => File::from(into).write_all(text.as_bytes()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = written {
        log::error("perl", format_args!("cannot report {what:?}: {error}"));
    }
}
