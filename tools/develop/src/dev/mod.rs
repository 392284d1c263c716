//! `cameleer dev`: serves a program or a site, and reloads it after each change.
//!
//! The server is a child process, `cameleer serve`, with a configuration that this process writes. After a mistake it
//! writes another one, which passes every request to this process (`web`).

mod browser;
mod change;
mod files;
mod message;
mod mistake;
mod served;
mod server;
mod terminal;
mod watch;
mod web;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use nix::sys::signal::{SigSet, Signal};

use change::ChangeBurst;
use message::Message;
use served::DevelopedProgram;
use server::{DevServer, StartFailure};
use terminal::Terminal;
use toolkit::Misuse;
use toolkit::conf::environment;
use toolkit::options::{Program, Run};
use watch::FileWatcher;
use web::Web;

/// Serve a program or a site for development: a saved change is served at once, a mistake is a page in the browser
#[derive(Debug, Args)]
pub struct Dev {
    #[command(flatten)]
    program: Program,
    /// Listen on HOST:PORT, :PORT, PORT or /path.sock; repeatable
    #[arg(short, long, value_name = "WHERE", env = "CAMELEER_LISTEN", hide_env = true, value_delimiter = ',')]
    listen: Vec<String>,
    /// Listen on this address [default: 127.0.0.1]
    #[arg(short = 'o', long, env = "CAMELEER_HOST", hide_env = true)]
    host: Option<String>,
    /// Listen on this port [default: 5000]
    #[arg(short, long, env = "CAMELEER_PORT", hide_env = true)]
    port: Option<u16>,
    /// Serve TLS and HTTP/2 with a self-signed certificate for development
    #[arg(long, env = "CAMELEER_TLS", hide_env = true)]
    tls: bool,
    /// Number of workers [default: 2]
    #[arg(long, value_name = "N", env = "CAMELEER_WORKERS", hide_env = true)]
    workers: Option<u32>,
    /// Also reload after changes of any file below these folders
    #[arg(short = 'R', long = "watch", value_name = "DIR", value_delimiter = ',')]
    watch: Vec<PathBuf>,
    /// Open the page in a browser: $BROWSER or xdg-open
    #[arg(long)]
    open: bool,
}

impl Dev {
    /// Serves until a signal ends it.
    pub fn run(self) -> anyhow::Result<()> {
        let program = self.program;
        let inherited = || Some(environment("PLACK_ENV")?.to_string_lossy().into_owned());
        let named = program.environment.clone().or_else(inherited);
        let host = self.host.or_else(|| self.listen.is_empty().then(|| "127.0.0.1".to_owned()));
        let run = Run {
            program: Program { environment: named.or_else(|| Some("development".to_owned())), ..program },
            listen: self.listen,
            host,
            port: self.port,
            tls: self.tls,
            workers: self.workers.or(Some(2)),
            watch: self.watch,
            ..Run::default()
        };
        serve(run, self.open)
    }
}

/// Serves a program, and reloads it after each change of its files.
pub fn serve(mut run: Run, open: bool) -> anyhow::Result<()> {
    if run.daemonize {
        return Err(Misuse("-D: a server that reloads after each change runs in the foreground".to_owned()).into());
    }
    run.program.in_development = true;
    // Before any thread exists, so that all have this mask.
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
    signals.thread_block()?;
    let (sender, messages) = channel();
    std::thread::spawn({
        let sender = sender.clone();
        move || while signals.wait().is_ok_and(|_| sender.send(Message::Stop).is_ok()) {}
    });
    let terminal = Terminal::of_this_process();
    let warning = run.program.public_files_beside();
    warning.iter().for_each(|warning| terminal.warn(warning));
    let served = DevelopedProgram::new(run)?;
    let web = Web::start(&served.folder().join("web.sock"))?;
    let watcher = FileWatcher::start(sender.clone())
        .context("cannot watch files for changes; the limit fs.inotify.max_user_instances of sysctl may be too low")?;
    served.watch(&watcher);
    let server = DevServer::new(served.folder(), served.root(), sender).in_environment(&served.environment());
    Development { served, web, watcher, server, messages, terminal, open }.run()
}

struct Development {
    served: DevelopedProgram,
    web: Web,
    watcher: Arc<FileWatcher>,
    server: DevServer,
    messages: Receiver<Message>,
    terminal: Terminal,
    open: bool,
}

/// Why the main loop ends.
enum End {
    /// A signal to this process.
    Stopped,
    /// The server ended, with this exit code.
    ServerEnded(i32),
}

impl Development {
    fn run(mut self) -> anyhow::Result<()> {
        self.start()?;
        match self.serve()? {
            End::Stopped => {
                self.web.close_all();
                self.server.stop();
                Ok(())
            }
            End::ServerEnded(code) => anyhow::bail!("the server ended with exit code {code}; see its messages above"),
        }
    }

    /// Starts the server, with the page of the mistake if the program does not load.
    fn start(&mut self) -> anyhow::Result<()> {
        self.served.write()?;
        match self.server.start(&self.messages) {
            Ok(()) => self.after_start(),
            Err(StartFailure::Code(text)) => {
                self.show(&text);
                if !self.served.write_mistake()? {
                    // Nothing can be served until the next change.
                    return Ok(());
                }
                self.server.start(&self.messages).map_err(StartFailure::into_error)?;
                self.after_start();
            }
            Err(other) => return Err(other.into_error()),
        }
        Ok(())
    }

    fn after_start(&mut self) {
        if self.web.mistake().is_none() {
            self.served.watch_loaded(&self.watcher);
        }
        let Some(url) = self.server.url.clone().filter(|_| std::mem::take(&mut self.open)) else { return };
        if let Err(error) = browser::open(&url) {
            self.terminal.warn(&format!("--open: {error:#}; open {url} yourself"));
        }
    }

    fn serve(&mut self) -> anyhow::Result<End> {
        loop {
            match self.messages.recv()? {
                Message::Stop => return Ok(End::Stopped),
                Message::Ended(code) if self.server.is_running() => return Ok(End::ServerEnded(code)),
                Message::Changed(change) => {
                    let mut burst = ChangeBurst::new(change);
                    if let Some(end) = self.collect(&mut burst) {
                        return Ok(end);
                    }
                    self.reload(&burst)?;
                }
                Message::Ended(_) | Message::Ready(_) => {}
            }
        }
    }

    /// Waits until no further change comes: an editor changes several files, or one in several steps.
    fn collect(&mut self, burst: &mut ChangeBurst) -> Option<End> {
        loop {
            match self.messages.recv_timeout(burst.patience()) {
                Ok(Message::Changed(change)) => burst.add(change),
                Ok(Message::Stop) => return Some(End::Stopped),
                Ok(Message::Ended(code)) if self.server.is_running() => return Some(End::ServerEnded(code)),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn reload(&mut self, burst: &ChangeBurst) -> anyhow::Result<()> {
        if !self.server.is_running() {
            return self.start();
        }
        let began = Instant::now();
        self.served.write()?;
        match self.server.reload() {
            Ok(()) => {
                self.web.set_mistake(None);
                self.served.watch_loaded(&self.watcher);
                self.terminal.reloaded(&burst.name(), began.elapsed());
            }
            Err(text) => {
                let was_shown = self.web.mistake().is_some();
                self.show(&text);
                // The configuration of the page is served already after an earlier mistake.
                if self.served.write_mistake()?
                    && !was_shown
                    && let Err(why) = self.server.reload()
                {
                    self.terminal.warn(&format!("the page of the mistake cannot be served: {why}"));
                }
            }
        }
        self.web.next_generation();
        Ok(())
    }

    fn show(&mut self, text: &str) {
        let text = self.served.without_own_place(text);
        self.terminal.mistake(&text);
        self.web.set_mistake(Some(text));
    }
}
