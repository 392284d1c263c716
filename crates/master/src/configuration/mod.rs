//! A configuration as the master needs it: read, checked, and serialized for front and molds.

pub mod expansion;
pub mod trial;

pub(crate) mod failures_folder;
mod fastcgi;
mod machine;
mod mistakes;

pub use mistakes::{CodeError, Mistakes};

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use wire::transport::in_memory;

use super::children::peer::Fd;
use base::log;
use config::log_format;
use config::parse::{ConfigReader, ParserSource};
use config::perl_api::MODPERL2;
use config::{
    At, Bundle, Config, ConfigError, Directive, Envvars, Expanded, Facts, Listen, PerlGeneration, regular, speaks_of,
};
use tls::{self, TlsFiles};

/// Minimum length of a token in bytes: shorter secrets can be guessed.
const MIN_TOKEN: usize = 16;
const MAX_TOKEN_BYTES: u64 = 1024;
/// Maximum size in bytes; Debian's file has 2 kB.
const MAX_ENVVARS_BYTES: u64 = 64 * 1024;

/// The source of a configuration, at the start and at every reload.
#[derive(Debug, Clone)]
pub struct ConfigOrigin {
    /// Source of the directives: a file or options.
    pub from: ConfigInput,
    /// `-D NAME`
    pub defines: Vec<String>,
    /// `-C directive`: read before the rest.
    pub before: Vec<String>,
    /// `-c directive`: read after the rest.
    pub after: Vec<String>,
    /// Facts besides the text that the configuration may depend on.
    pub facts: Facts,
}

/// A file, or directives from the command line.
#[derive(Debug, Clone)]
pub enum ConfigInput {
    /// `-f FILE`
    File(PathBuf),
    /// `cameleer run …`, written as directives.
    Options(Vec<OptionText>),
}

/// The directives of one option, or of the program itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionText {
    /// The option as the user wrote it: `--max-requests`.
    pub option: String,
    /// The directives, one per line.
    pub directives: String,
}

/// A configuration without errors.
#[derive(Debug)]
pub struct CheckedConfig {
    /// The parsed meaning of the directives.
    pub config: Config,
    bundle: Bundle,
    /// Certificates and keys of its hosts, as read last.
    identities: RefCell<TlsFiles>,
}

/// The directives of the files, before Perl in them has added further ones.
#[derive(Debug)]
pub struct ConfigReading(Bundle);

impl ConfigReading {
    /// Reads the configuration files.
    pub fn of(origin: &ConfigOrigin) -> Result<ConfigReading, Mistakes> {
        let beside = origin.envvars();
        let env = |name: &str| environment(name).or_else(|| beside.get(name).map(str::to_owned));
        let source = origin.source(&env);
        let reader = origin.read_for_its_generation(|| ConfigReader::new(&source));
        let facts = origin.facts_with(&beside, reader.defined());
        Ok(ConfigReading(Bundle::read(reader, facts).map_err(Mistakes::new)?))
    }

    /// Reads the files for a reload.
    pub fn again(origin: &ConfigOrigin) -> Result<ConfigReading, Mistakes> {
        let mut reading = ConfigReading::of(origin)?;
        reading.0.facts.reload = true;
        Ok(reading)
    }

    /// Whether Perl code must run before the configuration is complete.
    pub fn needs_perl(&self) -> bool {
        self.0.needs_perl()
    }

    /// The configuration from the directives read so far; directives with errors are left out.
    pub fn sketch(&self) -> Config {
        Config::sketch(&self.0.tree, &self.0.facts)
    }

    /// The directives in memory, for the expander.
    pub fn for_expander(mut self) -> std::io::Result<Fd> {
        self.0.facts.expanded = Some(Expanded::default());
        in_memory_of(&self.0)
    }

    /// Completes a configuration that needs no Perl.
    pub fn finish(self) -> Result<CheckedConfig, Mistakes> {
        CheckedConfig::of(self.0)
    }
}

/// A configuration for tools that only read it: the readable part, and the errors.
#[derive(Debug)]
pub struct Survey {
    /// The directives of the files, [skipped blocks](config::is_skipped) included.
    pub tree: Vec<Directive>,
    /// Base of relative paths.
    pub server_root: PathBuf,
    /// The errors that a start would report, without errors of directives that Perl adds.
    pub mistakes: Vec<ConfigError>,
    /// The warnings that a start would log.
    pub warnings: Vec<ConfigError>,
    /// The configuration without its faulty directives.
    pub config: Config,
}

impl Survey {
    /// Reads the configuration files and runs no Perl.
    pub fn of(origin: &ConfigOrigin) -> Survey {
        let beside = origin.envvars();
        let env = |name: &str| environment(name).or_else(|| beside.get(name).map(str::to_owned));
        let source = origin.source(&env);
        let reader = origin.read_for_its_generation(|| ConfigReader::surveying(&source));
        let facts = origin.facts_with(&beside, reader.defined());
        let (tree, mut mistakes) = reader.into_parts();
        let bundle = Bundle { tree, facts };
        let (config, _, errors) = examine(&bundle.without_skipped());
        // A missing directive may stand in a file that cannot be read, or come from Perl.
        let may_be_elsewhere = bundle.needs_perl() || !mistakes.is_empty();
        mistakes.extend(errors.into_iter().filter(|error| error.at.is_some() || !may_be_elsewhere));
        let mistakes = Mistakes::new(mistakes).0;
        let (server_root, warnings) = (config.server_root.clone(), config.warnings.clone());
        Survey { tree: bundle.tree, server_root, mistakes, warnings, config }
    }
}

/// The meaning of a configuration as far as it can be understood, and all errors in it and in the files that it names.
fn examine(bundle: &Bundle) -> (Config, TlsFiles, Vec<ConfigError>) {
    let (mut config, mut errors) = Config::understand(&bundle.tree, &bundle.facts);
    config.warnings.extend(bundle.facts.odd.iter().cloned());
    let about_fastcgi = fastcgi::warnings(&config);
    config.warnings.extend(about_fastcgi);
    errors.extend(wrong_log_formats(&config, bundle));
    errors.extend(machine::errors(&config, bundle));
    errors.extend(admin_token(&config).err());
    if hides_identities(&errors, bundle) {
        return (config, TlsFiles::default(), errors);
    }
    let identities = match tls::read(&config) {
        Ok((identities, odd)) => {
            config.warnings.extend(odd);
            identities
        }
        Err(more) => {
            errors.extend(more);
            TlsFiles::default()
        }
    };
    (config, identities, errors)
}

/// Whether an error may be the reason why a host has no certificate: then a further error about that would be false.
fn hides_identities(errors: &[ConfigError], bundle: &Bundle) -> bool {
    let wrong: HashSet<&At> = errors.iter().filter_map(|error| error.at.as_ref()).collect();
    let is_wrong = |directive: &Directive| wrong.contains(&directive.at);
    let concerns = |directive: &Directive| directive.section.is_some() || directive.name.starts_with("SSL");
    bundle.flat().any(|directive| concerns(directive) && is_wrong(directive))
}

/// The secret in the file of `AdminToken`, without the end of its line.
pub fn admin_token(config: &Config) -> Result<Option<String>, ConfigError> {
    let Some((path, at)) = &config.monitor.token else { return Ok(None) };
    let wrong = |why: String| ConfigError::at(at, format!("AdminToken: {}: {why}", path.display()));
    let token = read_secret(path).map_err(|error| wrong(error.to_string()))?;
    match token.trim_end_matches(['\r', '\n']) {
        token if token.len() < MIN_TOKEN => {
            Err(wrong(format!("expected at least {MIN_TOKEN} characters; create it with openssl rand -hex 32")))
        }
        token if token.contains(|c: char| !c.is_ascii_graphic()) => {
            Err(wrong("expected one line of printable ASCII characters".to_owned()))
        }
        token => Ok(Some(token.to_owned())),
    }
}

/// Reads a file that no other user may read. FIFOs and devices are refused, because they may never end.
fn read_secret(path: &Path) -> std::io::Result<String> {
    let mut options = File::options();
    let file = options.read(true).custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits()).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(std::io::Error::other("is not a regular file"));
    }
    if about.mode() & 0o077 != 0 {
        return Err(std::io::Error::other("is readable by other users; chmod 600"));
    }
    let mut text = String::new();
    file.take(MAX_TOKEN_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

impl CheckedConfig {
    /// Checks a configuration that was read completely.
    pub fn of(bundle: Bundle) -> Result<CheckedConfig, Mistakes> {
        let (config, identities, errors) = examine(&bundle);
        match errors.is_empty() {
            true => Ok(CheckedConfig { config, bundle, identities: RefCell::new(identities) }),
            false => Err(Mistakes::new(errors)),
        }
    }

    /// Splits the survey into the configuration and its directives.
    pub fn into_parts(self) -> (Config, Vec<Directive>) {
        (self.config, self.bundle.tree)
    }

    /// Facts besides the text that the configuration depends on.
    pub fn facts(&self) -> &Facts {
        &self.bundle.facts
    }

    /// The configuration in memory, sent beside a `Configure` message.
    pub fn in_memory(&self) -> std::io::Result<Fd> {
        in_memory_of(&self.bundle)
    }

    /// The configuration as a reload sends it if it has not changed until then.
    pub fn at_reload(&self) -> Bundle {
        let facts = Facts { reload: true, ..self.bundle.facts.clone() };
        Bundle { tree: self.bundle.tree.clone(), facts }
    }

    /// Whether this is the configuration that [`Self::at_reload`] has returned.
    pub fn is(&self, bundle: &Bundle) -> bool {
        self.bundle == *bundle
    }

    /// Certificates and keys in memory, which only the front gets.
    pub fn identities_in_memory(&self) -> std::io::Result<Fd> {
        Ok(Fd::new(in_memory("certificates", &serde_json::to_vec(&*self.identities.borrow())?)?.into()))
    }

    /// Reads certificates and keys again. Returns whether they have changed; unusable ones are an error and change
    /// nothing.
    pub fn renew_identities(&self) -> Result<bool, Mistakes> {
        let (identities, odd) = tls::read(&self.config).map_err(Mistakes)?;
        let changed = *self.identities.borrow() != identities;
        if changed {
            odd.iter().for_each(|odd| log::warn("master", odd));
        }
        self.identities.replace(identities);
        Ok(changed)
    }

    /// The directive that names an address: `site.conf:3: Listen 127.0.0.1:8080`.
    pub fn place_of(&self, listen: &Listen) -> String {
        let means =
            |d: &&Directive| d.name.eq_ignore_ascii_case("Listen") && d.args.first().is_some_and(|a| same(a, listen));
        match self.bundle.tree.iter().find(means) {
            Some(d) => format!("{}: Listen {}", d.at, d.args.join(" ")),
            None => format!("Listen {}", address_name(listen)),
        }
    }
}

/// An address as messages show it: `127.0.0.1:8080`, `[::]:80` or `/run/site.sock`.
pub fn address_name(address: &Listen) -> String {
    match address {
        Listen::Tcp(address) => address.to_string(),
        Listen::Unix(path) => path.display().to_string(),
    }
}

pub(crate) fn in_memory_of(bundle: &Bundle) -> std::io::Result<Fd> {
    Ok(Fd::new(in_memory("configuration", &serde_json::to_vec(bundle)?)?.into()))
}

/// Errors in log formats. Only the front knows the log items, but the errors must be reported before the front starts.
fn wrong_log_formats(config: &Config, bundle: &Bundle) -> Vec<ConfigError> {
    let wrong = |format: &String, source: Option<&Directive>| {
        let reason = log_format::check(format).err()?;
        let name = source.map_or("CustomLog", |directive| &directive.name);
        let message = format!("{name}: \"{format}\": {reason}");
        Some(ConfigError { at: source.map(|directive| directive.at.clone()), message })
    };
    let defines = |directive: &&Directive| directive.name.eq_ignore_ascii_case("LogFormat");
    let defined = bundle.flat().filter(defines).filter_map(|it| wrong(it.args.first()?, Some(it)));
    let used = config.hosts.iter().flat_map(|host| &host.access_logs).filter_map(|log| {
        let source = bundle.flat().find(|directive| directive.args.contains(&log.format));
        if source.as_ref().is_some_and(defines) { None } else { wrong(&log.format, source) }
    });
    defined.chain(used).collect()
}

impl ConfigOrigin {
    /// Path of the file, or `command line`.
    pub fn name(&self) -> String {
        match &self.from {
            ConfigInput::File(path) => path.display().to_string(),
            ConfigInput::Options(_) => "command line".to_string(),
        }
    }

    /// Path of the file; `None` for directives from options.
    pub fn file(&self) -> Option<&Path> {
        match &self.from {
            ConfigInput::File(path) => Some(path),
            ConfigInput::Options(_) => None,
        }
    }

    /// The values of `${APACHE_RUN_DIR}` and similar variables, which Debian sets in `envvars` beside apache2.conf.
    /// Environment variables take precedence.
    pub fn envvars(&self) -> Envvars {
        let Some(path) = self.file().map(|file| file.with_file_name("envvars")) else { return Envvars::default() };
        let file = path.display().to_string();
        match regular::read(&path, MAX_ENVVARS_BYTES) {
            Ok((_, text)) => Envvars::parse(&String::from_utf8_lossy(&text), &file, instance(&path), &environment),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Envvars::default(),
            Err(error) => {
                let at = At { file: file.into(), line: 0 };
                let message = format!("{error}; set the variables that the configuration uses in the environment");
                Envvars { odd: vec![ConfigError::at(&at, message)], ..Envvars::default() }
            }
        }
    }

    fn facts_with(&self, beside: &Envvars, defined: Vec<(String, Option<String>)>) -> Facts {
        let mut facts = Facts { defined, odd: beside.odd.clone(), file: self.name(), ..self.facts.clone() };
        let is_new = |(name, _): &&(String, String)| self.facts.env.iter().all(|(known, _)| known != name);
        facts.env.extend(beside.values.iter().filter(is_new).cloned());
        facts
    }

    /// Inputs of the parser. `env` returns environment variables.
    pub fn source<'a>(&self, env: &'a dyn Fn(&str) -> Option<String>) -> ParserSource<'a> {
        let started_in = self.facts.started_in.clone();
        ParserSource { defines: self.defines.clone(), started_in, ..ParserSource::disk(&self.facts.server_root, env) }
    }

    /// Reads a configuration of mod_perl 2 a second time, with the name defined that mod_perl 2 defines.
    pub fn read_for_its_generation<'a>(&self, reader: impl Fn() -> ConfigReader<'a>) -> ConfigReader<'a> {
        let first = self.read_by(reader());
        match speaks_of(&first) {
            Some(PerlGeneration::Two) if !first.defines(MODPERL2) => {
                let mut second = reader();
                second.define(&[(MODPERL2.to_owned(), None)]);
                self.read_by(second)
            }
            _ => first,
        }
    }

    fn read_by<'a>(&self, mut reader: ConfigReader<'a>) -> ConfigReader<'a> {
        self.before.iter().for_each(|line| reader.option(line, "-C"));
        match &self.from {
            ConfigInput::File(path) => reader.load(path),
            ConfigInput::Options(all) => all.iter().for_each(|text| reader.option(&text.directives, &text.option)),
        }
        self.after.iter().for_each(|line| reader.option(line, "-c"));
        reader
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The instance name `two` in `/etc/apache2-two/envvars`: Debian's layout for a second server.
fn instance(envvars: &Path) -> Option<&str> {
    envvars.parent()?.to_str()?.strip_prefix("/etc/apache2-")
}

/// Whether an argument of `Listen` means an address: `8080`, `*:8080` and `0.0.0.0:8080` mean the same.
fn same(argument: &str, listen: &Listen) -> bool {
    match listen {
        Listen::Unix(path) => argument.trim_start_matches("unix:") == path.to_string_lossy(),
        Listen::Tcp(address) => {
            argument == address.to_string()
                || (address.ip().is_unspecified() && argument.rsplit(':').next() == Some(&address.port().to_string()))
        }
    }
}
