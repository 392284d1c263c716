//! `cameleer top`: shows a running server on a terminal, updated every second, with keys for details.
//!
//! ```text
//!   keys ──▶ Watched ──▶ screen        Watched: the last status and the selection; no terminal, no server
//!   server ──▶ ┘  └──▶ recycle, look at a stack
//! ```

// State and key handling.
mod watched;

// Rows of the tables, sorted and filtered.
mod tables;

// The Perl stack of a worker.
mod stack;

// Layout and colours.
mod screen;

use std::io::{IsTerminal, stdin, stdout};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};

use self::watched::{KeyMode, Watched, Wish};
use machine::memory::Machine;
use master::sockets::control_socket::Command;
use profiler::ObservedWorker;
use status::{ServerStatus, Usages};
use toolkit::Misuse;
use toolkit::client::{Server, ServerChoice};

/// Interval between two status requests.
const SECOND: Duration = Duration::from_secs(1);
/// Maximum delay before a signal is noticed.
const SOON: Duration = Duration::from_millis(100);

/// Watch a running server: workers, slow requests, rates; recycle a worker
#[derive(Debug, Args)]
pub struct Top {
    #[command(flatten)]
    which: ServerChoice,
}

impl Top {
    /// Shows the server until the user quits. Fails without a terminal.
    pub fn run(self) -> anyhow::Result<()> {
        if !stdin().is_terminal() || !stdout().is_terminal() {
            return Err(Misuse("top needs a terminal; programs can use cameleer status --json".to_owned()).into());
        }
        let server = self.which.connect()?;
        // Block the signals before the terminal changes, so that it is restored when a signal ends the program.
        let signals = ends()?;
        // The terminal is restored after a panic, too.
        let mut terminal = ratatui::try_init()?;
        let watched = watch(server, &signals, &mut terminal);
        ratatui::restore();
        watched
    }
}

/// Signals that would otherwise end the program without restoring the terminal.
fn ends() -> nix::Result<SignalFd> {
    let mut set = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT].into_iter().for_each(|signal| set.add(signal));
    set.thread_block()?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

fn watch(mut server: Server, signals: &SignalFd, terminal: &mut DefaultTerminal) -> anyhow::Result<()> {
    let mut watched = Watched::default();
    let mut due = Instant::now();
    while !matches!(signals.read_signal(), Ok(Some(_))) {
        if due <= Instant::now() {
            let (status, usages) = look(&mut server)?;
            watched.takes(now(), status, usages);
            if let KeyMode::Stack(worker) = watched.mode {
                watched.has_looked(look_at(&mut server, worker));
            }
            due = Instant::now() + SECOND;
        }
        terminal.draw(|frame| screen::draw(frame, &mut watched))?;
        let wait = due.saturating_duration_since(Instant::now()).min(SOON);
        let Some(key) = key_within(wait)? else { continue };
        match watched.press(key) {
            Some(Wish::Quit) => break,
            Some(Wish::Recycle(worker)) => {
                let outcome = server.request(Command::Recycle { worker }).map(drop);
                watched.show_message(
                    outcome.map_or_else(
                        |error| error.to_string(),
                        |()| format!("worker {worker} exits after its request"),
                    ),
                );
            }
            Some(Wish::Look(worker)) => watched.has_looked(look_at(&mut server, worker)),
            None => {}
        }
    }
    Ok(())
}

/// Reads the current request and Perl stack of a worker.
fn look_at(server: &mut Server, worker: u32) -> Result<ObservedWorker, String> {
    let looked: anyhow::Result<Option<ObservedWorker>> = server.request_from_profiler(Command::Look { worker });
    looked.map_err(|error| error.to_string())?.ok_or_else(|| format!("worker {worker} has just started or ended"))
}

fn key_within(wait: Duration) -> std::io::Result<Option<KeyEvent>> {
    if !event::poll(wait)? {
        return Ok(None);
    }
    match event::read()? {
        Event::Key(key) if key.kind == KeyEventKind::Press => Ok(Some(key)),
        _ => Ok(None),
    }
}

/// Reads the status, and the usage of its workers. Private memory that the server has not measured is read from
/// /proc.
fn look(server: &mut Server) -> anyhow::Result<(ServerStatus, Usages)> {
    let answer = server.request(Command::Snapshot)?;
    let status = answer.status.ok_or_else(|| anyhow::anyhow!("the server sent an invalid answer"))?;
    if !server.shares_our_numbers() {
        return Ok((status, Usages::default()));
    }
    let machine = Machine::default();
    let ask = |pid| machine.sizes(pid).map(|sizes| sizes.private);
    let private = |pid| status.memory.processes.get(&pid).map(|sizes| sizes.private).or_else(|| ask(pid));
    let usages = Usages::of(status.workers(), private);
    Ok((status, usages))
}

fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    u32::try_from(since).unwrap_or(u32::MAX)
}
