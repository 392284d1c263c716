//! Translates `cameleer run …` into directives, which `--show-config` prints and the configuration reads as `command
//! line`.

mod addresses;
mod application;
mod folders;
mod program;
mod text;

use std::path::PathBuf;

use super::options::{Program, Run};
use super::{Misuse, development};
use addresses::listen;
use master::configuration::{OptionText, address_name};
use master::sockets::listeners::Listeners;
use program::program;
use text::DirectiveText;

/// Inputs of the translation besides the options.
#[derive(Debug, Default)]
pub struct Surroundings {
    folder: PathBuf,
    /// Names of environment variables that requests may see.
    env: Vec<String>,
    port: Option<String>,
    concurrency: Option<String>,
    /// Folder of the certificate for `--tls`.
    certificates: PathBuf,
    /// Host name of this machine.
    host_name: Option<String>,
    /// Addresses of sockets passed by systemd or Server::Starter.
    passed: Vec<String>,
}

/// Prefixes of environment variables that requests do not see: those of Cameleer, systemd and Server::Starter, and
/// PLACK_ENV, which is passed separately.
const HIDDEN: [&str; 6] = ["CAMELEER_", "LISTEN_", "NOTIFY_SOCKET", "WATCHDOG_", "SERVER_STARTER_", "PLACK_ENV"];

impl Surroundings {
    /// The environment of this process.
    pub fn ours() -> anyhow::Result<Surroundings> {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut env: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        env.retain(|name| is_plain(name) && HIDDEN.iter().all(|prefix| !name.starts_with(prefix)));
        // The shell sets `_` for its own use.
        env.retain(|name| name != "_");
        env.sort();
        let passed = Listeners::passed_addresses().iter().map(address_name).collect();
        let folder = std::env::current_dir()?;
        let home = var("XDG_CONFIG_HOME").or_else(|| Some(var("HOME")? + "/.config"));
        let home = home.map_or_else(|| folder.clone(), PathBuf::from);
        Ok(Surroundings {
            folder,
            env,
            port: var("PORT"),
            concurrency: var("WEB_CONCURRENCY"),
            certificates: home.join("cameleer/development"),
            host_name: std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned()),
            passed,
        })
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Translates options into directives.
pub fn of(run: &Run, around: &Surroundings) -> anyhow::Result<Vec<OptionText>> {
    let mut text = DirectiveText::default();
    let addresses = listen(run, around)?;
    text.by(match (run.listen.is_empty(), &run.host, run.port) {
        (false, ..) => "--listen",
        (true, Some(_), None) => "--host",
        _ => "--port",
    });
    for address in &addresses {
        match address.tls {
            true => text.line("Listen", &[&address.name, "https"]),
            false => text.line("Listen", &[&address.name]),
        }
    }
    if run.tls {
        let names: Vec<String> = addresses.into_iter().map(|address| address.name).collect();
        tls(&names, around, &mut text)?;
    }
    pool(run, around, &mut text)?;
    files(run, around, &mut text);
    program(&run.program, around, &mut text)?;
    for directive in &run.directives {
        text.by("-C").verbatim(directive);
    }
    Ok(text.finish())
}

/// Directives of a program for `check`.
pub fn of_program(what: &Program, around: &Surroundings) -> anyhow::Result<Vec<OptionText>> {
    let mut text = DirectiveText::default();
    // The address is not bound, but a configuration needs one.
    text.by("--port").line("Listen", &["5000"]);
    program(what, around, &mut text)?;
    Ok(text.finish())
}

/// Directives of an interpreter with the Apache API that serves no requests.
pub fn of_interpreter(include: &[PathBuf], around: &Surroundings) -> Vec<OptionText> {
    let mut text = DirectiveText::default();
    text.by("--port").line("Listen", &["5000"]);
    for folder in include {
        text.by("-I").line("PerlLib", &[&around.folder.join(folder).display().to_string()]);
    }
    text.by("the interpreter").section("Location", "/", &[("SetHandler", "perl-script"), ("PerlHandler", "Nobody")]);
    text.finish()
}

/// Uses a self-made certificate in the user's folder.
fn tls(addresses: &[String], around: &Surroundings, text: &mut DirectiveText) -> anyhow::Result<()> {
    let files = development::certificate(&around.certificates, addresses, around.host_name.as_deref())?;
    text.by("--tls").line("SSLCertificateFile", &[&files.certificate.display().to_string()]);
    text.line("SSLCertificateKeyFile", &[&files.key.display().to_string()]);
    text.line("Protocols", &["h2", "http/1.1"]);
    Ok(())
}

fn pool(run: &Run, around: &Surroundings, text: &mut DirectiveText) -> anyhow::Result<()> {
    let count = run.workers.map(|n| n.to_string()).or_else(|| around.concurrency.clone());
    let count = count.unwrap_or_else(|| "5".to_string());
    let workers: u32 = count.parse().unwrap_or(0);
    if workers == 0 {
        return Err(Misuse(format!("--workers: expected a number from 1, got \"{count}\"")).into());
    }
    text.by("--workers");
    for name in ["StartServers", "MinSpareServers", "MaxSpareServers", "MaxClients"] {
        text.line(name, &[&workers.to_string()]);
    }
    if let Some(range) = &run.max_requests {
        text.by("--max-requests").line("MaxRequestsPerChild", &[range]);
    }
    Ok(())
}

fn files(run: &Run, around: &Surroundings, text: &mut DirectiveText) {
    let here = |path: &PathBuf| around.folder.join(path).display().to_string();
    let (pid, control) = (run.pid.as_ref().map(here), run.control.as_ref().map(here));
    for (option, name, value) in [
        ("--user", "User", &run.user),
        ("--group", "Group", &run.group),
        ("--pid", "PidFile", &pid),
        ("--control", "ControlSocket", &control),
        ("--error-log", "ErrorLog", &run.error_log),
        ("--log-level", "LogLevel", &run.log_level),
    ] {
        if let Some(value) = value {
            text.by(option).line(name, &[value]);
        }
    }
    if let Some(log) = &run.access_log {
        let format = run.log_format.as_deref().unwrap_or("combined");
        text.by("--access-log").line("CustomLog", &[log, format]);
    }
}

#[cfg(test)]
mod tests;
