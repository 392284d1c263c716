//! `cameleer bloat`: the memory, files and system calls that Perl code needs when loaded, like perlbloat in
//! mod_perl's documents.

mod table;
mod trace;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;
use libperl::Interpreter;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use serde::{Deserialize, Serialize};

use crate::embedded::PerlChild;
use base::printable;
use toolkit::print;
use trace::Traced;

const HINT: &str = "\
Each expression runs in a process of its own, stopped and measured before and after; programs that
it starts are not counted. The first line is the cost without an expression";

/// Measure memory, files and system calls of loading Perl code
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Bloat {
    /// Perl code, like 'use CGI ()'
    #[arg(required = true, value_name = "EXPRESSION")]
    expressions: Vec<String>,
    /// Search this folder for modules first; repeatable
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// List the modules and files, too
    #[arg(short, long)]
    list: bool,
    /// Print JSON; sizes are in bytes
    #[arg(long)]
    json: bool,
}

/// Result for one expression.
#[derive(Debug, Serialize)]
struct Measured {
    expression: String,
    #[serde(flatten)]
    traced: Traced,
    #[serde(flatten)]
    found: PerlReport,
}

/// Data from Perl about an expression.
#[derive(Debug, Serialize, Deserialize)]
struct PerlReport {
    /// Names added to `%INC`.
    modules: Vec<String>,
    match_variables: Vec<MatchVariable>,
}

/// Code that uses `$&`, `` $` `` or `$'`.
#[derive(Debug, Serialize, Deserialize)]
struct MatchVariable {
    variable: String,
    file: String,
    line: Option<u32>,
}

impl Bloat {
    /// Measures each expression and prints the costs.
    pub fn run(self) -> anyhow::Result<()> {
        let expressions = std::iter::once("").chain(self.expressions.iter().map(String::as_str));
        let measured = expressions.map(|expression| self.measure(expression)).collect::<anyhow::Result<Vec<_>>>()?;
        print(&match self.json {
            true => printable::json(&(serde_json::to_string_pretty(&measured)? + "\n")),
            false => printable::lines(&table::of(&measured, self.list)),
        })
    }

    fn measure(&self, expression: &str) -> anyhow::Result<Measured> {
        let child = PerlChild::start(&self.include, |perl| run(perl, expression))?;
        let traced = trace::follow(child.pid).with_context(|| expression.to_owned())?;
        let found = child.answer().with_context(|| expression.to_owned())?;
        let found = serde_json::from_str(&found)?;
        let traced = traced.context("perl ended before its memory was measured")?;
        Ok(Measured { expression: expression.to_owned(), traced, found })
    }
}

/// Runs in the child, which stops itself before and after the expression for the measurements.
fn run(perl: &Interpreter, expression: &str) -> anyhow::Result<String> {
    perl.require_module("Cameleer::Bloat")?;
    perl.call_for_text(c"Cameleer::Bloat::begin", "")?;
    ptrace::traceme().context("this process cannot be traced, so that its system calls cannot be counted")?;
    raise(Signal::SIGSTOP)?;
    let error = perl.call_for_text(c"Cameleer::Bloat::run", expression)?;
    raise(Signal::SIGSTOP)?;
    ensure!(error.is_empty(), "{}", error.trim_end());
    Ok(perl.call_for_text(c"Cameleer::Bloat::found", "")?)
}
