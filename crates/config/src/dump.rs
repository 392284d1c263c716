//! The configuration as compact text, for golden tests.

use std::fmt::Write;

use crate::model::config::Config;
use crate::model::context::Scope;
use crate::model::host::{AliasFrom, Host};
use crate::model::node::NodeSettings;
use crate::model::remote_ip::RemoteIp;
use crate::model::server::LogTarget;
use crate::model::settings::{Section, Settings};
use crate::model::start_up::StartUpStep;

pub fn dump(config: &Config) -> String {
    let mut out = format!(
        "server_root {:?}\nuser {:?} group {:?}\npid_file {:?}\ncontrol_socket {:?}\nbacklog {}\nerror_log {}\nlog_level {:?}\n",
        config.server_root,
        config.user,
        config.group,
        config.pid_file,
        config.control_socket,
        config.listen_backlog,
        target(&config.error_log),
        config.log_level
    );
    writeln!(out, "{:?}\n{:?}\n{:?}", config.pool, config.timeouts, config.limits).unwrap();
    writeln!(out, "{:?}", config.perl).unwrap();
    if config.node != NodeSettings::default() {
        writeln!(out, "{:?}", config.node).unwrap();
    }
    config.listen.iter().for_each(|listen| writeln!(out, "listen {listen:?}").unwrap());
    config.start_up.iter().for_each(|step| writeln!(out, "start_up {} {}", step.at, step_words(&step.step)).unwrap());
    config.warm_up.iter().for_each(|request| {
        writeln!(out, "warm_up {} host={} {:?}", request.at, request.host, request.source).unwrap()
    });
    config.logs.iter().enumerate().for_each(|(i, log)| writeln!(out, "log {i} {}", target(log)).unwrap());
    config
        .error_logs
        .iter()
        .enumerate()
        .for_each(|(i, log)| writeln!(out, "host_error_log {i} {}", target(log)).unwrap());
    config.types.iter().flatten().for_each(|(extension, name)| writeln!(out, "type {extension} {name}").unwrap());
    config.hosts.iter().enumerate().for_each(|(i, host)| out.push_str(&host_lines(i, host)));
    config.sections.iter().enumerate().skip(1).for_each(|(i, section)| out.push_str(&section_line(i, section)));
    out
}

fn target(log: &LogTarget) -> String {
    match log {
        LogTarget::Standard => "-".to_owned(),
        LogTarget::File(path) => path.display().to_string(),
        LogTarget::Pipe(command) => format!("|{command}"),
        LogTarget::Syslog(target) => target.to_string(),
    }
}

fn step_words(step: &StartUpStep) -> String {
    format!("{step:?}")
}

fn host_lines(index: usize, host: &Host) -> String {
    let addresses: Vec<String> = host
        .addresses
        .iter()
        .map(|address| {
            let ip = address.ip.map_or_else(|| "*".to_owned(), |ip| ip.to_string());
            let port = address.port.map_or_else(|| "*".to_owned(), |port| port.to_string());
            format!("{ip}:{port}")
        })
        .collect();
    let mut out =
        format!("host {index} [{}] base {} containers {:?}\n", addresses.join(" "), host.base, host.containers);
    let mut line = |text: String| writeln!(out, "host {index} {text}").unwrap();
    if let Some(name) = &host.server_name {
        line(format!("name {name} port {:?} aliases {:?}", host.server_port, host.server_aliases));
    }
    line(format!("root {:?} admin {:?}", host.document_root, host.server_admin));
    let folders = [("documents", &host.virtual_folders.documents), ("scripts", &host.virtual_folders.scripts)];
    for (of, folder) in folders {
        folder.iter().for_each(|folder| line(format!("virtual {of} {folder:?}")));
    }
    let keep = host.keep_alive;
    line(format!("keep_alive {} within {:?} most {}", keep.is_on(), keep.within(), keep.most.unwrap_or_default()));
    for alias in &host.aliases {
        let from = match &alias.from {
            AliasFrom::Prefix(prefix) => prefix.clone(),
            AliasFrom::Match(regex) => format!("~ {regex}"),
        };
        line(format!("{} {from} {}", if alias.script { "script_alias" } else { "alias" }, alias.to.display()));
    }
    if let Some(users) = &host.user_folders {
        line(format!("users {} {:?}", users.pattern, users.folders));
    }
    if host.logs_errors_itself() {
        line(format!("error_log {:?} level {:?}", host.error_log, host.log_level));
    }
    if host.remote_ip != RemoteIp::default() {
        line(format!("{:?}", host.remote_ip));
    }
    for redirect in &host.redirects {
        line(format!("{redirect:?}"));
    }
    for log in &host.access_logs {
        let condition = log.condition.as_ref().map_or_else(String::new, |condition| format!(" {condition:?}"));
        line(format!("access_log {} {}{condition}", log.log, log.format));
    }
    out
}

fn section_line(index: usize, section: &Section) -> String {
    let inside = section.inside.map_or_else(String::new, |outer| format!(" in {outer}"));
    let settings = format!("{:?}", section.own);
    format!("section {index}{inside} {}{}\n", scope(&section.scope), settings.trim_start_matches("PartialSettings"))
}

fn scope(scope: &Scope) -> String {
    match scope {
        Scope::Host => "host".to_owned(),
        Scope::Directory(path) => format!("directory {}", path.display()),
        Scope::DirectoryMatch(regex) => format!("directory ~ {regex}"),
        Scope::Files(regex) => format!("files ~ {regex}"),
        Scope::Location(path) => format!("location {path}"),
        Scope::LocationMatch(regex) => format!("location ~ {regex}"),
        Scope::Backend(regex) => format!("proxy ~ {regex}"),
        Scope::Program(path, directive) => format!("{} {}", directive.to_ascii_lowercase(), path.display()),
        Scope::If(branch) => format!("{} {}", branch.name().to_ascii_lowercase(), branch.argument()),
    }
}

/// Removes the extra spaces and commas of the long `Debug` form.
fn compact(line: &str) -> String {
    let pairs = [("( ", "("), ("[ ", "["), (", )", ")"), (", ]", "]"), (", }", " }")];
    pairs.iter().fold(line.to_owned(), |line, (long, short)| line.replace(long, short)).trim_end_matches(',').to_owned()
}

/// The settings that differ from the defaults, one per line.
pub fn settings(settings: &Settings) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in format!("{settings:#?}").lines().filter(|line| line.starts_with("    ")) {
        match (line.starts_with("     ") || line.trim().starts_with(['}', ']', ')']), lines.last_mut()) {
            (true, Some(before)) => before.push_str(&format!(" {}", line.trim())),
            _ => lines.push(line.trim().to_owned()),
        }
    }
    lines.iter().map(|line| format!("{}\n", compact(line))).collect()
}
