//! CGI programs as findings of `check --compat`.

use super::{CgiModes, CgiProgram, Programs, Risk};
use crate::{Finding, Light};
use base::current_folder::REMEDY;
use config::program::CgiMode;

/// A finding for each script in Perl, for each file that cannot run, and for each risk.
pub fn findings(programs: &Programs) -> Vec<Finding> {
    programs.all.iter().flat_map(of_program).collect()
}

fn of_program(program: &CgiProgram) -> Vec<Finding> {
    let finding = |light, line: u32, what: &str, note: String| Finding {
        light,
        at: format!("{}:{line}", program.file.display()),
        what: what.to_owned(),
        note,
    };
    let mut findings = Vec::new();
    if let Some(fault) = &program.fault {
        findings.push(finding(Light::Amber, 1, "CGI program", format!("{fault}, as under httpd")));
    }
    if !program.is_perl {
        return findings;
    }
    for missed in &program.missed {
        let note = format!("\"{}\" is not found: {REMEDY}", missed.name);
        findings.push(finding(Light::Red, missed.line, "require of a file", note));
    }
    findings.push(finding(Light::Green, 1, mode(program.mode), gain(program)));
    for risk in &program.risks {
        let (light, note) = match program.mode {
            CgiMode::Program => (Light::Green, format!("under CgiMode {}: {}", modes(risk), risk.note)),
            mode if program.risks_of(mode).any(|of_mode| of_mode == risk) => (Light::Amber, risk.note.to_owned()),
            _ => continue,
        };
        findings.push(finding(light, risk.line, risk.what, note));
    }
    findings
}

fn gain(program: &CgiProgram) -> String {
    if program.mode != CgiMode::Program {
        return String::new();
    }
    let loads = match program.modules.is_empty() {
        true => "loads no module".to_owned(),
        false => format!("loads {} for each request, which CgiMode fork does once", program.modules_in_short()),
    };
    match program.risks_of(CgiMode::Persistent).next() {
        None => format!("{loads}; no problems were found for CgiMode persistent"),
        Some(_) => loads,
    }
}

fn mode(mode: CgiMode) -> &'static str {
    match mode {
        CgiMode::Program => "CgiMode program",
        CgiMode::Fork => "CgiMode fork",
        CgiMode::Persistent => "CgiMode persistent",
    }
}

fn modes(risk: &Risk) -> &'static str {
    match risk.holds {
        CgiModes::Fork => "fork",
        CgiModes::Persistent => "persistent",
        CgiModes::Both => "fork or persistent",
    }
}
