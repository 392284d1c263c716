//! `cameleer check`: reads the configuration and compiles the Perl code as at a start, without serving requests.

use clap::Args;

use super::{built_in, cgi_programs, compat};
use ::compat::programs::Programs;
use base::printable;
use config::reference;
use master::configuration::trial;
use master::configuration::{ConfigInput, ConfigOrigin, Survey};
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
}

impl Check {
    pub fn run(self) -> anyhow::Result<()> {
        match self.directives.as_deref() {
            None if self.conf.dumps_modules() => print(&built_in::modules()),
            None if self.compat => compat::report(&self.origin()?),
            None => compile(&self.origin()?),
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

/// Compiles the configuration. Prints warnings and the result.
pub fn compile(origin: &ConfigOrigin) -> anyhow::Result<()> {
    let warnings = trial::compile(origin)?;
    warnings.iter().for_each(|warning| print_error(&printable::lines(&warning.to_string())));
    let programs = Programs::of(&Survey::of(origin).config);
    cgi_programs::report(&programs).iter().for_each(|line| print_error(&printable::lines(line)));
    match &origin.from {
        ConfigInput::File(path) => print(&format!("{}: Syntax OK\n", printable::line(&path.display().to_string()))),
        ConfigInput::Options(_) => print("Syntax OK\n"),
    }
}
