//! `cameleer mem`: memory use of a running server, and the number of workers that fit.

mod advice;
mod blame;
mod leaks;
mod picture;
mod plan;
pub(crate) mod report;
mod table;
pub(crate) mod urls;

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use base::printable;
use machine::memory::Machine;
use master::sockets::control_socket::Command;
use report::MemorySnapshot;
use toolkit::client::ServerChoice;
use toolkit::print;

const HINT: &str = "\
Sizes are read from /proc, so a server that has changed its user requires root.
RSS       counts shared pages in each process   PSS      divides them, so that sums are correct
private   no other process has it (USS)         shared   with the mold, since the fork
mold      the shared part of the mold's memory   /1,000   growth by 1,000 requests
docs/memory.md explains each number";

/// Show the memory use of a running server, and how many workers fit
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Mem {
    #[command(flatten)]
    which: ServerChoice,
    /// Print JSON; sizes are in bytes
    #[arg(long)]
    json: bool,
    /// Write a diagram of the pool as SVG
    #[arg(long, value_name = "FILE", group = "view")]
    svg: Option<PathBuf>,
    /// List code that workers loaded since the fork and the mold should load
    #[arg(long, group = "view")]
    advise: bool,
    /// List objects created in workers since the fork, by class
    #[arg(long, group = "view")]
    leaks: bool,
    /// Show the memory growth of workers by request path
    #[arg(long, group = "view")]
    urls: bool,
    /// List variables and subs no longer shared with the mold, and why
    #[arg(long, group = "view")]
    blame: bool,
    /// Write a file for PerlRequire that loads the code listed by --advise
    #[arg(long, value_name = "FILE", requires = "advise")]
    write: Option<PathBuf>,
    /// Calculate MaxClients from the running pool or from these options:
    #[arg(long, group = "view")]
    plan: bool,
    #[command(flatten)]
    given: plan::PlanInput,
}

impl Mem {
    /// Prints the selected report on memory.
    pub fn run(self) -> anyhow::Result<()> {
        if self.plan {
            let plan = match self.given.complete()? {
                Some(plan) => plan,
                None => self.given.completed_by(&self.measure()?)?,
            };
            return self.print(&plan, plan.table());
        }
        if self.advise {
            return self.give_advice();
        }
        if self.leaks {
            let leaks = leaks::Leaks::of(&mut self.which.connect()?)?;
            return self.print(&leaks, leaks::table(&leaks));
        }
        if self.urls {
            let urls = urls::Urls::of(&mut self.which.connect()?)?;
            return self.print(&urls, urls::table(&urls));
        }
        if self.blame {
            let blame = blame::Blame::of(&mut self.which.connect()?)?;
            return self.print(&blame, blame::table(&blame));
        }
        let report = self.measure()?;
        if let Some(file) = &self.svg {
            let picture = picture::draw(&report);
            std::fs::write(file, picture).with_context(|| format!("cannot write {}", file.display()))?;
        }
        match self.svg.is_some() && !self.json {
            true => Ok(()),
            false => self.print(&report, table::table(&report)),
        }
    }

    fn give_advice(&self) -> anyhow::Result<()> {
        let advice = advice::PreloadAdvice::of(&mut self.which.connect()?)?;
        if let Some(file) = &self.write {
            let text = advice::start_up_file(&advice);
            std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        self.print(&advice, advice::table(&advice))
    }

    fn measure(&self) -> anyhow::Result<MemorySnapshot> {
        let mut server = self.which.connect()?;
        if !server.shares_our_numbers() {
            bail!("the server runs in another container, where its processes have other pids; run this command there");
        }
        let status = server.request(Command::Status)?.status.context("the server sent an invalid answer")?;
        Ok(MemorySnapshot::of(&status, &Machine::default()))
    }

    fn print(&self, data: &impl serde::Serialize, table: String) -> anyhow::Result<()> {
        print(&match self.json {
            true => printable::json(&(serde_json::to_string_pretty(data)? + "\n")),
            false => printable::lines(&table),
        })
    }
}
