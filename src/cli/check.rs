//! `cameleer check`: reads the configuration and compiles the Perl code as at a start, without serving requests.

use clap::Args;

use super::htaccess_files::{self, CheckedHtaccess};
use super::{built_in, cgi_programs, compat};
use ::compat::programs::Programs;
use base::printable;
use config::{Config, reference};
use master::configuration::trial::{self, CompiledSite};
use master::configuration::{ConfigInput, ConfigOrigin, Mistakes};
use toolkit::conf::Conf;
use toolkit::options::Program;
use toolkit::origin::origin;
use toolkit::{Misuse, directives, print, print_error};

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
    /// Leave out the .htaccess files of the site
    #[arg(long)]
    no_htaccess: bool,
}

impl Check {
    pub fn run(self) -> anyhow::Result<()> {
        match self.directives.as_deref() {
            None if self.conf.dumps_modules() => print(&built_in::modules()),
            None if self.compat => compat::report(&self.origin()?),
            None => check(&self.origin()?, !self.no_htaccess),
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

/// Compiles the configuration, and reads the `.htaccess` files below its folders. Prints warnings and the result.
fn check(origin: &ConfigOrigin, reads_htaccess: bool) -> anyhow::Result<()> {
    let config = warned(origin)?;
    let htaccess = if reads_htaccess { htaccess_files::check(&config) } else { CheckedHtaccess::default() };
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
    warned(origin)?;
    done(origin)
}

/// The compiled configuration, after its warnings have been printed.
fn warned(origin: &ConfigOrigin) -> anyhow::Result<Config> {
    let CompiledSite { warnings, config } = trial::compile(origin)?;
    warnings.iter().for_each(|warning| print_error(&printable::lines(&warning.as_warning())));
    let programs = Programs::of(&config);
    cgi_programs::report(&programs).iter().for_each(|line| print_error(&printable::lines(line)));
    Ok(config)
}

fn done(origin: &ConfigOrigin) -> anyhow::Result<()> {
    match &origin.from {
        ConfigInput::File(path) => print(&format!("{}: Syntax OK\n", printable::line(&path.display().to_string()))),
        ConfigInput::Options(_) => print("Syntax OK\n"),
    }
}
