//! `cameleer replay --debug`: the site in a single process under `perl -d`, on this terminal, with the request sent as
//! soon as the program is loaded.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

use super::sent::{Response, exchange};
use toolkit::conf::{Conf, environment};
use toolkit::print_error;
use tune::TunedSite;

/// Interval between attempts to connect. The program may stand at a breakpoint for hours before it listens.
const LOOK: Duration = Duration::from_millis(50);
/// Time for the process to end after the response.
const LAST: Duration = Duration::from_secs(5);

/// Runs the request, and ends when the debugger or the response ends.
pub fn run(conf: &Conf, request: &[u8]) -> anyhow::Result<()> {
    let site = TunedSite::of(conf, None)?;
    ensure!(!site.target.tls, "{}: its first address has TLS, which --debug does not support", site.name);
    let folder = tempfile::Builder::new().prefix("cameleer-debug-").tempdir()?;
    // Ctrl-C is for the debugger.
    SigSet::from_iter([Signal::SIGINT, Signal::SIGQUIT]).thread_block()?;
    let ports = free_ports(site.config.listen.len())?;
    let port = *ports.get(site.listener).context("the site has no Listen")?;
    let mut child = start(&site, folder.path(), ports)?;
    print_error(
        "cameleer: set breakpoints (`b postpone My::handler`), then `c`: the request is sent when the program is loaded",
    );
    let response = sent_when_ready(port, request.to_vec());
    let answered = wait(&mut child, &response)?;
    match answered {
        Some(response) => response?.print(),
        None => Ok(()),
    }
}

fn start(site: &TunedSite, folder: &std::path::Path, ports: Vec<u16>) -> anyhow::Result<Child> {
    let instead = [("MemoryBudget", "off"), ("RequestTimeout", "0"), ("SlowLog", "off")];
    let shadow = config::ShadowChanges {
        owner: std::process::id().cast_signed(),
        folder: folder.to_owned(),
        ports,
        instead: instead.iter().map(|(name, value)| config::Directive::new(name, [*value])).collect(),
    };
    let mut command = Command::new("/proc/self/exe");
    command.args(site.serve_arguments()).arg("-X").arg("--shadow").arg(serde_json::to_string(&shadow)?);
    let before = environment("PERL5OPT").unwrap_or_default();
    command.env("PERL5OPT", format!("{} -d", before.to_string_lossy()).trim_start());
    // The process ends with the response, and the debugger does not ask for another command.
    let options = environment("PERLDB_OPTS").unwrap_or_default();
    command.env("PERLDB_OPTS", format!("inhibit_exit=0 {}", options.to_string_lossy()).trim_end());
    sys::with_signals_unblocked(&mut command);
    command.spawn().context("the server cannot be started")
}

/// Ports that are free now. Another process could take one in the meantime, and then the server says so.
fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    let bound: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<Result<_, _>>()?;
    bound.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn sent_when_ready(port: u16, request: Vec<u8>) -> Receiver<anyhow::Result<Response>> {
    let (done, response) = channel();
    std::thread::spawn(move || {
        let stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        let _ = done.send(exchange(stream, &request));
    });
    response
}

/// Waits for the response or the end of the process. After the response the process is ended.
fn wait(
    child: &mut Child,
    response: &Receiver<anyhow::Result<Response>>,
) -> anyhow::Result<Option<anyhow::Result<Response>>> {
    loop {
        if let Ok(response) = response.recv_timeout(LOOK) {
            end(child)?;
            return Ok(Some(response));
        }
        if child.try_wait()?.is_some() {
            return Ok(response.try_recv().ok());
        }
    }
}

/// Ends the process after the response. A debugger that asks for a command at the end is killed.
fn end(child: &mut Child) -> std::io::Result<()> {
    let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM);
    let by = Instant::now() + LAST;
    while Instant::now() < by && child.try_wait()?.is_none() {
        std::thread::sleep(LOOK);
    }
    child.kill()?;
    child.wait().map(drop)
}
