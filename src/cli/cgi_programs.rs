//! Report of `check` about the CGI programs of a site.

use base::current_folder::REMEDY;
use compat::programs::{CgiProgram, MissedFile, Programs};
use config::program::CgiMode;

/// Maximum number of lines per kind.
const MAX_LINES: usize = 20;

/// Message if the search has reached a limit.
pub const CUT: &str = "the folders of CGI programs are large: not all of their files were checked";

/// Lists files that cannot run, risks of persistent scripts, and files not examined.
pub fn report(programs: &Programs) -> Vec<String> {
    let faults = programs.all.iter().filter_map(|program| {
        let fault = program.fault.as_ref()?;
        Some(format!("{}: {fault}", program.file.display()))
    });
    let mut lines = short(faults.collect(), "files that cannot run");
    lines.extend(short(programs.all.iter().flat_map(missed).collect(), "files that scripts do not find"));
    lines.extend(short(programs.all.iter().flat_map(risks).collect(), "such lines; check --compat lists all"));
    lines.extend(not_compiled(programs));
    if programs.is_cut {
        lines.push(CUT.to_owned());
    }
    lines
}

fn risks(program: &CgiProgram) -> impl Iterator<Item = String> {
    let line = |line: u32, text: String| format!("{}:{line}: {text}", program.file.display());
    program.risks_of(program.mode).map(move |risk| line(risk.line, format!("{}: {}", risk.what, risk.note)))
}

fn missed(program: &CgiProgram) -> impl Iterator<Item = String> {
    let line = |missed: &MissedFile| {
        let (file, MissedFile { line, name }) = (program.file.display(), missed);
        format!("{file}:{line}: require \"{name}\" finds no file: {REMEDY}")
    };
    program.missed.iter().map(line)
}

fn not_compiled(programs: &Programs) -> Option<String> {
    let is_started = |program: &&CgiProgram| program.is_perl && program.mode == CgiMode::Program;
    let (count, gain) = (programs.all.iter().filter(is_started).count(), programs.that_would_gain().count());
    let scripts = if count == 1 { "1 CGI script".to_owned() } else { format!("{count} CGI scripts") };
    let verb = if count == 1 { "was" } else { "were" };
    let hint = match gain {
        0 => String::new(),
        gain => format!(
            "; {gain} of them {} modules for each request; check --compat shows what CgiMode fork or persistent would change",
            if gain == 1 { "loads" } else { "load" }
        ),
    };
    (count > 0).then(|| format!("{scripts} in Perl {verb} not compiled, because perl -c runs BEGIN blocks{hint}"))
}

fn short(mut lines: Vec<String>, rest: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more {rest}"));
    }
    lines
}
