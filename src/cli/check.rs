//! `cameleer check`: reads the configuration and compiles the Perl code as at a start, without serving requests.

use clap::Args;

use super::htaccess_files::{self, CheckedHtaccess};
use super::{built_in, cgi_programs, compat, hosts};
use ::compat::programs::Programs;
use base::printable;
use config::{Config, ConfigError, reference};
use master::configuration::trial::{self, CompiledSite};
use master::configuration::{ConfigInput, ConfigOrigin, Mistakes};
use toolkit::conf::Conf;
use toolkit::options::Program;
use toolkit::origin::origin;
use toolkit::{Misuse, directives, print, print_error};

/// Maximum number of directives in the line about lines without effect.
const MAX_NAMES: usize = 5;

/// Check a configuration, compile its Perl, and report errors.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    conf: Conf,
    #[command(flatten)]
    program: Program,
    /// List all directives, or explain one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    directives: Option<String>,
    /// List the mod_perl 1 features of the site, and whether each is supported
    #[arg(long)]
    compat: bool,
    /// Of these features, list only those that are not supported
    #[arg(long)]
    red: bool,
    /// List also the lines of httpd that have no effect here
    #[arg(long)]
    all: bool,
    /// List virtual hosts and settings, as httpd -S
    #[arg(short = 'S')]
    hosts: bool,
    /// Leave out the .htaccess files of the site
    #[arg(long)]
    no_htaccess: bool,
}

impl Check {
    pub fn run(self) -> anyhow::Result<()> {
        match self.directives.as_deref() {
            None if self.conf.dumps_modules() => print(&built_in::modules()),
            None if self.hosts || hosts::are_dumped(&self.conf) => hosts::print_list(&self.conf, self.hosts),
            None if self.compat || self.red => compat::report(&self.origin()?, self.red),
            None => check(&self.origin()?, &CheckScope { reads_htaccess: !self.no_htaccess, lists_all: self.all }),
            Some("") => print(&reference::summary()),
            Some(name) => print(&reference::entry(name).map_err(|error| Misuse(format!("{name}: {error}")))?),
        }
    }

    fn origin(&self) -> anyhow::Result<ConfigOrigin> {
        if self.program.is_empty() {
            return self.conf.origin();
        }
        if self.conf.file.is_some() {
            return Err(Misuse("check -f FILE or check PROGRAM, not both".to_string()).into());
        }
        let text = directives::of_program(&self.program, &directives::Surroundings::ours()?)?;
        origin(text, &self.program)
    }
}

/// Options of `check`: the files that it reads, and the lines that it lists.
struct CheckScope {
    reads_htaccess: bool,
    /// Whether lines of httpd without effect are listed one by one.
    lists_all: bool,
}

/// Compiles the configuration, and reads the `.htaccess` files below its folders. Prints warnings and the result.
fn check(origin: &ConfigOrigin, scope: &CheckScope) -> anyhow::Result<()> {
    let config = warned(origin, scope.lists_all)?;
    let htaccess = if scope.reads_htaccess { htaccess_files::check(&config) } else { CheckedHtaccess::default() };
    htaccess.notes.iter().for_each(|note| print_error(&printable::lines(note)));
    if !htaccess.errors.is_empty() {
        return Err(Mistakes(htaccess.errors).into());
    }
    done(origin)?;
    match htaccess.count {
        0 => Ok(()),
        1 => print("1 .htaccess file: Syntax OK\n"),
        count => print(&format!("{count} .htaccess files: Syntax OK\n")),
    }
}

/// Compiles the configuration, as before a start. Prints warnings and the result.
pub fn compile(origin: &ConfigOrigin) -> anyhow::Result<()> {
    warned(origin, false)?;
    done(origin)
}

/// The compiled configuration, after its warnings have been printed.
fn warned(origin: &ConfigOrigin, lists_all: bool) -> anyhow::Result<Config> {
    let CompiledSite { warnings, config } = trial::compile(origin)?;
    let is_folded =
        |warning: &&ConfigError| !lists_all && warning.at.as_ref().is_some_and(|at| config.without_effect.contains(at));
    let (folded, listed): (Vec<_>, Vec<_>) = warnings.iter().partition(is_folded);
    listed.iter().for_each(|warning| print_error(&printable::lines(&warning.as_warning())));
    without_effect(&folded).iter().for_each(|line| print_error(&printable::lines(line)));
    let programs = Programs::of(&config);
    cgi_programs::report(&programs).iter().for_each(|line| print_error(&printable::lines(line)));
    Ok(config)
}

/// One line about lines without effect, with the names of the first ones.
fn without_effect(warnings: &[&ConfigError]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in warnings.iter().filter_map(|warning| warning.message.split(':').next()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} other directives") } else { String::new() };
    let (lines, have) = if warnings.len() == 1 { ("line", "has") } else { ("lines", "have") };
    let names = names.join(", ");
    let count = warnings.len();
    (count > 0)
        .then(|| format!("{count} {lines} for httpd {have} no effect here ({names}{more}); check --all lists them"))
}

fn done(origin: &ConfigOrigin) -> anyhow::Result<()> {
    match &origin.from {
        ConfigInput::File(path) => print(&format!("{}: Syntax OK\n", printable::line(&path.display().to_string()))),
        ConfigInput::Options(_) => print("Syntax OK\n"),
    }
}
