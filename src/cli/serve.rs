//! `cameleer serve`: an Apache-style configuration, with httpd's options.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::check::print;
use super::client::Which;
use super::{Misuse, Unfit, check, daemon, ready, reload, report, run, single, stop};
use crate::config::MODULES;
use crate::master::control_socket::How;
use crate::master::site::{From, Origin};
use crate::master::{self, Options};

/// Serve an Apache-style configuration, in the foreground unless -k start.
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    conf: Conf,
    /// One process, no fork: for debuggers and profilers
    #[arg(short = 'X')]
    single: bool,
    /// Check the configuration and compile its Perl, as `cameleer check`
    #[arg(short = 't')]
    test: bool,
    /// Show the version
    #[arg(short = 'v')]
    version: bool,
    /// Show the version and what was built in
    #[arg(short = 'V')]
    build: bool,
    /// List the modules of httpd whose work is done here, as -t -D DUMP_MODULES
    #[arg(short = 'M')]
    modules: bool,
    /// The same by their source files
    #[arg(short = 'l')]
    files: bool,
    /// start, stop, restart, graceful or graceful-stop the server of this configuration
    #[arg(short = 'k', hide_possible_values = true, value_name = "VERB")]
    verb: Option<Verb>,
}

/// Which configuration, and what the command line adds to it.
#[derive(Debug, Default, Args)]
pub struct Conf {
    /// Configuration [default: cameleer.conf here or in /etc/cameleer]
    #[arg(short = 'f', value_name = "FILE", env = "CAMELEER_CONF", hide_env = true)]
    pub file: Option<PathBuf>,
    /// ServerRoot, unless the configuration says it [default: its folder]
    #[arg(short = 'd', value_name = "DIR", env = "CAMELEER_SERVER_ROOT", hide_env = true)]
    root: Option<PathBuf>,
    /// Define a name for <IfDefine>; repeatable
    #[arg(short = 'D', value_name = "NAME")]
    defines: Vec<String>,
    /// Read this directive before the configuration; repeatable
    #[arg(short = 'C', value_name = "DIRECTIVE")]
    before: Vec<String>,
    /// Read this directive after the configuration; repeatable
    #[arg(short = 'c', value_name = "DIRECTIVE")]
    after: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Verb {
    Start,
    Stop,
    Restart,
    Graceful,
    GracefulStop,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<()> {
        if self.version || self.build {
            println!("Cameleer {}", env!("CARGO_PKG_VERSION"));
            if self.build {
                println!("{}", build());
            }
            return Ok(());
        }
        if self.files {
            return print(&module_files());
        }
        if self.modules || self.conf.dumps_modules() {
            return print(&modules());
        }
        if self.test {
            return check::compile(&self.conf.origin()?).map_err(|error| Unfit(report(&error)).into());
        }
        match self.verb {
            None => self.serve(),
            Some(Verb::Start) => self.start(),
            Some(Verb::Restart | Verb::Graceful) => reload::reload(&self.which()),
            Some(Verb::Stop) => stop::stop(&self.which(), How::Fast),
            Some(Verb::GracefulStop) => stop::stop(&self.which(), How::Graceful),
        }
    }

    fn serve(self) -> anyhow::Result<()> {
        let origin = self.conf.origin()?;
        if self.single {
            return single::run(&origin);
        }
        master::run(options(origin, Box::new(|| ())))
    }

    fn start(self) -> anyhow::Result<()> {
        let origin = self.conf.origin()?;
        if self.conf.defines.iter().any(|name| name == "FOREGROUND") {
            return master::run(options(origin, Box::new(|| ())));
        }
        let origin = Origin { before: daemon::error_log().into_iter().chain(origin.before).collect(), ..origin };
        daemon::run(|in_background| master::run(Options { in_background: true, ..options(origin, in_background) }))
    }

    fn which(&self) -> Which {
        Which { conf: self.conf.path().ok(), ..Which::default() }
    }
}

impl Conf {
    /// `-D DUMP_MODULES`, which httpd takes for a question.
    pub fn dumps_modules(&self) -> bool {
        self.defines.iter().any(|name| name == "DUMP_MODULES")
    }

    /// A configuration to which nothing is added.
    pub fn of(file: &Path) -> Conf {
        Conf { file: Some(file.to_owned()), ..Conf::default() }
    }

    /// Where the configuration is, and what belongs to it.
    pub fn origin(&self) -> anyhow::Result<Origin> {
        let file = self.path()?;
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let root = match &self.root {
            Some(root) => std::path::absolute(root)?,
            None => folder,
        };
        Ok(Origin {
            from: From::File(file),
            defines: self.defines.clone(),
            before: self.before.clone(),
            after: self.after.clone(),
            facts: run::facts(root),
        })
    }

    fn path(&self) -> anyhow::Result<PathBuf> {
        let usual = ["cameleer.conf", "/etc/cameleer/cameleer.conf"];
        match &self.file {
            // As httpd: a relative name is relative to ServerRoot.
            Some(file) => {
                let file = self.root.as_deref().unwrap_or(Path::new("")).join(file);
                std::path::absolute(&file).with_context(|| format!("-f {}", file.display()))
            }
            None => {
                let found = usual.iter().map(Path::new).find(|path| path.exists());
                let found = found.ok_or_else(|| {
                    Misuse(format!("no configuration: neither {} exists; use -f FILE", usual.join(" nor ")))
                })?;
                Ok(std::path::absolute(found)?)
            }
        }
    }
}

fn options(origin: Origin, in_background: ready::Then) -> Options {
    let name = match &origin.from {
        From::File(path) => path.display().to_string(),
        From::Options(_) => "the command line".to_string(),
    };
    Options { origin, on_ready: ready::announce(name, in_background), in_background: false }
}

/// As httpd lists them; all are built in.
pub fn modules() -> String {
    let lines: String = MODULES.iter().map(|(_, identifier)| format!(" {identifier} (static)\n")).collect();
    format!("Loaded Modules:\n{lines}")
}

fn module_files() -> String {
    let lines: String = MODULES.iter().map(|(file, _)| format!("  {file}\n")).collect();
    format!("Compiled in modules:\n{lines}")
}

fn build() -> String {
    format!("Master, front and workers in one binary; {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
