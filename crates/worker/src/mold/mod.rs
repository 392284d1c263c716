//! The mold: loads the site's Perl, warms it up, reports that it is ready, and then only forks. The mold answers no
//! client requests, so its pages stay shared with every worker.

mod order;

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Context;
use wire::control::{FromMold, GenerationNumber, ToMold};
use wire::transport::packet_buffer;

use super::cgi;
use super::error_logs::StderrLogs;
use super::forking::{Birth, Forks, Home, MasterChannel};
use super::inspection::{self, LoopFacts};
use super::site::Site;
use super::{PerlWorker, preload, readiness, warm_up};
use order::{LoadOrder, MoldStart};
use sys::Words;

/// Runs a mold on the master's channel. A forked worker does not return from here.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    libperl::set_title("cameleer: mold");
    sys::default_faults()?;
    let master = MasterChannel::new(control);
    let Some((start, order)) = order::receive(&master)? else { return Ok(()) };
    let LoadOrder { generation, preload, words, logs } = order;
    let MoldStart { config, facts, perl } = start;
    if config.is_of_programs(config.own_pool) {
        return cgi::run(master, generation, config, logs);
    }
    let warm_up = warm_up::WarmUpPlan::of(&config);
    let started = Instant::now();
    let by = started + config.timeouts.start;
    let loaded = match perl {
        Some(perl) => Site::load_in(perl, config, &facts),
        None => order::become_mold(&config).and_then(|()| Site::load(config, &facts)),
    };
    // A child that the site's start-up code forked arrives here when it exits. Only the mold itself may report to the
    // master.
    if libperl::is_forked_child() {
        std::process::exit(0);
    }
    let site = match loaded {
        Ok(site) => Rc::new(site),
        Err(error) => {
            master.send(&FromMold::Failed { error: cut(format!("{error:#}")) }, &[])?;
            return Ok(());
        }
    };
    let left_out = preload::load(&site, preload, by);
    // Late code may fork as well.
    if libperl::is_forked_child() {
        std::process::exit(0);
    }
    let load_ms = started.elapsed().as_millis() as u64;
    site.error_logs.replace(StderrLogs::new(logs)?);
    match site.config.pool.is_event() {
        _ if facts.check => {}
        true => warm_up.leave_to_workers(&site),
        false => warm_up.run(&site, generation, by),
    }
    let (software, facts) = (site.software(), site.program_facts());
    master.send(&FromMold::Ready { load_ms, software, activity: libperl::activity_address(), facts, left_out }, &[])?;
    sys::outlive_master()?;
    site.before_forks();
    be_mold(master, generation, site, words.into())
}

/// Forks workers. A fork becomes a worker and, after promotion, a mold again. The loop replaces recursion, so that
/// the stack depth stays constant.
fn be_mold(
    mut master: MasterChannel,
    generation: GenerationNumber,
    mut site: Rc<Site>,
    words: Rc<Words>,
) -> anyhow::Result<()> {
    loop {
        let packet = packet_buffer();
        let mut forks = Forks::new(master, generation);
        sys::default_child_signal()?;
        let served = forks.serve(&*site);
        let Ok(Some(Birth { wire, identity })) = served else {
            site.end_of_mold();
            return served.map(drop);
        };
        drop(forks);
        let port = wire.port(packet, &site.config)?;
        let successor = PerlWorker::new(site, port, identity, words.clone()).run();
        if !successor.settle()? {
            return Ok(());
        }
        (master, site) = (successor.master, successor.site);
    }
}

/// Limits a start-up error to a size that fits into a control message. The beginning names the place of the error.
fn cut(mut text: String) -> String {
    const MAX_COUNT: usize = 64 * 1024;
    if text.len() > MAX_COUNT {
        let end = (0..=MAX_COUNT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str(" …");
    }
    text
}

impl Home for Site {
    fn execute(&self, order: ToMold, mut fds: std::vec::IntoIter<OwnedFd>) -> anyhow::Result<()> {
        match order {
            ToMold::Logs => {
                for (number, log) in (0..).zip(fds) {
                    self.error_logs.borrow_mut().renew(number, log)?;
                }
            }
            ToMold::Inspect { what } => {
                let into = fds.next().context("the message Inspect has no descriptor for the report")?;
                inspection::report(self, LoopFacts::default(), what, into, Vec::new());
            }
            ToMold::Weigh { code } => {
                let into = fds.next().context("the message Weigh has no descriptor for the report")?;
                let done = fds.next().context("the message Weigh has no descriptor that marks the report's end")?;
                inspection::weigh(self, &code, into, done);
            }
            ToMold::Check { check } => {
                let into = fds.next().context("the message Check has no descriptor for the result")?;
                let done = fds.next().context("the message Check has no descriptor that marks the end")?;
                readiness::check(self, check, into, done);
            }
            // A mold with Perl ignores messages that only other processes need.
            ToMold::ProgramFacts { .. }
            | ToMold::Prepare { .. }
            | ToMold::Configure { .. }
            | ToMold::Spawn { .. }
            | ToMold::Retire => {}
        }
        Ok(())
    }
}
