//! `cameleer serve`: serves an Apache-style configuration, with httpd's options.

use clap::{Args, ValueEnum};
use nix::unistd::Pid;

use super::{Unfit, built_in, check, daemon, hosts, ready, report, single, version};
use admin::{reload, stop};
use config::ShadowChanges;
use master::configuration::{ConfigInput, ConfigOrigin};
use master::sockets::control_socket::StopMode;
use master::{self, Options};
use toolkit::client::Server;
use toolkit::conf::Conf;
use toolkit::print;

/// Serve an Apache-style configuration, in the foreground unless -k start.
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    conf: Conf,
    /// Run as a single process, for debuggers and profilers
    #[arg(short = 'X')]
    single: bool,
    /// Check the configuration and compile its Perl, like `cameleer check`
    #[arg(short = 't')]
    test: bool,
    /// Show the version
    #[arg(short = 'v')]
    version: bool,
    /// Show the version and build settings
    #[arg(short = 'V')]
    build: bool,
    /// List the httpd modules that are supported, like -t -D DUMP_MODULES
    #[arg(short = 'M')]
    modules: bool,
    /// List virtual hosts and settings, like -t -D DUMP_VHOSTS -D DUMP_RUN_CFG
    #[arg(short = 'S')]
    hosts: bool,
    /// List these modules by their source files
    #[arg(short = 'l')]
    files: bool,
    /// Control the server: start, stop, restart, graceful or graceful-stop
    #[arg(short = 'k', hide_possible_values = true, value_name = "VERB")]
    verb: Option<Verb>,
    /// Internal: serve a second instance of the site, with changes in JSON
    #[arg(long, hide = true, value_parser = shadow)]
    shadow: Option<ShadowChanges>,
    /// Internal: end with this process, the parent
    #[arg(long, hide = true, value_name = "PID")]
    owner: Option<i32>,
}

fn shadow(json: &str) -> Result<ShadowChanges, serde_json::Error> {
    serde_json::from_str(json)
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
            print(&version::server())?;
            return if self.build { print(&format!("{}\n{}\n", version::parts(), built_in::kind())) } else { Ok(()) };
        }
        if self.files {
            return print(&built_in::module_files());
        }
        if self.modules || self.conf.dumps_modules() {
            return print(&built_in::modules());
        }
        if self.hosts || hosts::are_dumped(&self.conf) {
            return hosts::print_list(&self.conf, self.hosts).map_err(|error| Unfit(report(&error)).into());
        }
        if self.test {
            return check::compile(&self.conf.origin()?).map_err(|error| Unfit(report(&error)).into());
        }
        match self.verb {
            None => self.serve(),
            Some(Verb::Start) => self.start(),
            Some(Verb::Restart | Verb::Graceful) => reload::reload(self.server()?),
            Some(Verb::Stop) => stop::stop(self.server()?, StopMode::Fast),
            Some(Verb::GracefulStop) => stop::stop(self.server()?, StopMode::Graceful),
        }
    }

    fn serve(self) -> anyhow::Result<()> {
        let mut origin = self.conf.origin()?;
        if let Some(owner) = self.owner.or(self.shadow.as_ref().map(|shadow| shadow.owner)) {
            sys::die_with(Pid::from_raw(owner))?;
        }
        origin.facts.shadow = self.shadow;
        origin.facts.single = self.single;
        if self.single {
            return single::run(&origin);
        }
        master::run(options(origin, Box::new(|| ())))
    }

    fn start(self) -> anyhow::Result<()> {
        let origin = self.conf.origin()?;
        if self.conf.defines("FOREGROUND") {
            return master::run(options(origin, Box::new(|| ())));
        }
        let origin = ConfigOrigin { before: daemon::error_log().into_iter().chain(origin.before).collect(), ..origin };
        daemon::run(|in_background| master::run(Options { in_background: true, ..options(origin, in_background) }))
    }

    /// The running server of this configuration.
    fn server(&self) -> anyhow::Result<Server> {
        Server::of_configuration(&self.conf)
    }
}

fn options(origin: ConfigOrigin, in_background: ready::AfterReady) -> Options {
    let name = match &origin.from {
        ConfigInput::File(path) => path.display().to_string(),
        ConfigInput::Options(_) => "the command line".to_string(),
    };
    Options { origin, on_ready: ready::announce(name, in_background), in_background: false }
}
