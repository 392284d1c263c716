//! `cameleer serve`: an Apache-style configuration, with httpd's options.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::client::Which;
use super::{Misuse, Unfit, check, daemon, ready, reload, report, run, single, stop};
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
        daemon::run(|in_background| master::run(options(origin, in_background)))
    }

    fn which(&self) -> Which {
        Which { conf: self.conf.path().ok(), ..Which::default() }
    }
}

impl Conf {
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
        From::Text(_) => "the command line".to_string(),
    };
    Options { origin, on_ready: ready::announce(name, in_background) }
}

fn build() -> String {
    format!("Master, front and workers in one binary; {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
