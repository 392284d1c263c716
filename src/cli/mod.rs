//! The command line, with one file per subcommand. The work is done in other crates.

mod bench;
mod built_in;
mod cgi_programs;
mod check;
mod compat;
mod daemon;
mod explain;
mod help;
mod hosts;
mod htaccess_files;
mod httpd_options;
mod packaged;
mod ready;
mod roles;
mod run;
mod serve;
mod single;
mod syslog;
mod tips;
mod version;

use clap::{Parser, Subcommand};

use admin::{advise, drain, history, maint, mem, purge, recycle, refork, reload, status, stop, top, why};
use base::printable;
use master::configuration::{CodeError, Mistakes};
use packaged::{completions, man};
use perlcost::{bloat, profile, replay, size};
use toolkit::{Misuse, options};

/// Exit code of a failed command.
const FAILED: u8 = 1;
/// Exit code of a wrong command line; same as clap's.
const USAGE: u8 = 2;
/// EX_CONFIG: wrong configuration, or Perl code that does not compile. Used in systemd's RestartPreventExitStatus.
const CONFIGURATION: u8 = 78;

/// The application server for Perl: preloaded, pre-forked workers behind an async front.
#[derive(Debug, Parser)]
#[command(name = "cameleer", version = version::text(), after_help = HINT, disable_help_subcommand = true)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the version and the build date, as httpd does
    #[arg(short = 'v')]
    server_version: bool,
}

const HINT: &str = "\
Try:  cameleer run app.psgi            a PSGI application, on http://localhost:5000/
      cameleer serve -f site.conf      an Apache-style configuration
      cameleer help COMMAND            the options of a command";

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a program: app.psgi, script.cgi, a folder of scripts, or -M Handler::Module
    Run(options::Run),
    /// Serve an Apache-style configuration
    Serve(serve::Serve),
    /// Check a configuration, compile its Perl, and report errors
    Check(check::Check),
    /// Show how a configuration handles one request, and by which lines
    Explain(explain::Explain),
    /// Show the status of a running server and its workers
    Status(status::Status),
    /// Watch a running server: workers, slow requests, rates; recycle a worker
    Top(top::Top),
    /// Show the load of a server at a past time, up to seven days ago
    History(history::History),
    /// Show the memory use of a running server, and how many workers fit
    Mem(mem::Mem),
    /// Show in which Perl code requests of a running server spend their time
    Profile(profile::Profile),
    /// Show where the last slow requests of a running server spent their time
    Why(why::Why),
    /// Suggest configuration changes for a running server, with reasons
    Advise(advise::Advise),
    /// Reload configuration and code; after an error the old ones continue to serve
    Reload(reload::Reload),
    /// Promote a worker to mold, so that others share the code that its requests loaded
    Refork(refork::Refork),
    /// Replace a worker after its current request
    Recycle(recycle::Recycle),
    /// Stop a server after its current requests
    Stop(stop::Stop),
    /// Take a server out of its load balancer, and stop it then
    Drain(drain::Drain),
    /// Take a server out of its load balancer, and put it back
    Maint(maint::Maint),
    /// Purge responses from the cache of a running server
    Purge(purge::Purge),
    /// Measure how fast a server answers, this one or any other
    Bench(Box<bench::Bench>),
    /// Make a site for Cameleer from the configuration of Apache httpd
    Migrate(migrate::Migrate),
    /// Compare the pages of two servers of one site, by the requests of an access log
    DiffSites(Box<sitediff::DiffSites>),
    /// Find settings for a site by measurements on a second server
    Tune(Box<tune::Tune>),
    /// Serve a program or a site for development: a saved change is served at once
    Dev(develop::dev::Dev),
    /// Send a failed request again, as RecordFailures has recorded it
    Replay(Box<replay::Replay>),
    /// Show the memory use of the subs of a module or script
    Size(size::Size),
    /// Measure memory, files and system calls of loading Perl code
    Bloat(bloat::Bloat),
    /// Print the versions of the program, of its Perl and of its libraries
    #[command(hide = true)]
    Version,
    /// Print the options of a command
    #[command(hide = true)]
    Help(help::Help),
    /// Print the man page of a command
    #[command(hide = true)]
    Man(man::Man),
    /// Print the completions of a shell
    #[command(hide = true)]
    Completions(completions::Completions),
    /// Internal: sends the lines of its input to syslog
    #[command(hide = true)]
    Syslog(syslog::Syslog),
}

/// Runs the command line.
pub fn run() -> anyhow::Result<()> {
    sys::keep_inherited_from_children();
    let arguments: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(ended) = roles::run(&arguments) {
        return ended;
    }
    let cli = Cli::try_parse_from(httpd_options::with_command(std::env::args_os().collect()));
    let cli = cli.unwrap_or_else(|error| tips::improve(error, &arguments).exit());
    // Without a command there is -v: clap shows the help when there is neither.
    let Some(command) = cli.command else { return toolkit::print(&version::server()) };
    match command {
        Command::Run(run) => run::run(run),
        Command::Dev(dev) => dev.run(),
        Command::Serve(serve) => serve.run(),
        Command::Check(check) => check.run(),
        Command::Explain(explain) => explain.run(),
        Command::Status(status) => status.run(),
        Command::Top(top) => top.run(),
        Command::History(history) => history.run(),
        Command::Mem(mem) => mem.run(),
        Command::Profile(profile) => profile.run(),
        Command::Why(why) => why.run(),
        Command::Advise(advise) => advise.run(),
        Command::Reload(reload) => reload.run(),
        Command::Refork(refork) => refork.run(),
        Command::Recycle(recycle) => recycle.run(),
        Command::Stop(stop) => stop.run(),
        Command::Drain(drain) => drain.run(),
        Command::Maint(maint) => maint.run(),
        Command::Purge(purge) => purge.run(),
        Command::Bench(bench) => bench.run(),
        Command::Migrate(migrate) => migrate.run(),
        Command::DiffSites(diff) => diff.run(),
        Command::Tune(tune) => tune.run(),
        Command::Replay(replay) => replay.run(),
        Command::Size(size) => size.run(),
        Command::Bloat(bloat) => bloat.run(),
        Command::Version => toolkit::print(&format!("cameleer {}\n", version::text())),
        Command::Help(help) => help.run(),
        Command::Man(man) => man.run(),
        Command::Completions(completions) => completions.run(),
        Command::Syslog(syslog) => syslog.run(),
    }
}

/// An error of `serve -t` or `check --compat`. Exit code 1 whatever the cause, as users of apachectl expect.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unfit(String);

/// The message for an error. Errors of a configuration begin with file and line, so that editors can parse them.
pub fn report(error: &anyhow::Error) -> String {
    let speaks_for_itself = error.is::<Mistakes>() || error.is::<CodeError>() || error.is::<Unfit>();
    // The message may contain file names and output of programs, which must be escaped.
    printable::lines(&if speaks_for_itself { error.to_string() } else { format!("cameleer: {error:#}") })
}

/// 2 for wrong usage, 78 for an invalid configuration, 1 for all else.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Misuse>() {
        USAGE
    } else if error.is::<Mistakes>() || error.is::<CodeError>() {
        CONFIGURATION
    } else {
        FAILED
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed_and_each_help_fits_a_screen() {
        let mut cli = super::Cli::command();
        cli.clone().debug_assert();
        cli.build();
        for command in cli.get_subcommands_mut() {
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 40, "{}: {lines} lines", command.get_name());
        }
    }
}
