//! A configuration as the master needs it: checked, and as the bytes that front and mold build theirs from.

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

use wire::transport::in_memory;

use super::peer::Fd;
use crate::config::parse::{Reader, Source};
use crate::config::{Bundle, Config, ConfigError, Directive, Expanded, Facts, Listen, directives};
use crate::log;
use crate::tls::{self, Identity};

/// Where a configuration is read from, now and at every reload.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file or the text.
    pub from: From,
    /// `-D NAME`
    pub defines: Vec<String>,
    /// `-C directive`: read before the rest.
    pub before: Vec<String>,
    /// `-c directive`: read after the rest.
    pub after: Vec<String>,
    /// What the configuration may know of the world.
    pub facts: Facts,
}

/// A file, or what the command line stands for.
#[derive(Debug, Clone)]
pub enum From {
    /// `-f FILE`
    File(PathBuf),
    /// `cameleer run …`, written as directives.
    Text(String),
}

/// Everything that is wrong with a configuration, one line each.
#[derive(Debug)]
pub struct Mistakes(pub Vec<ConfigError>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ConfigError::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}

/// A configuration that may serve.
#[derive(Debug)]
pub struct Site {
    /// What will be done.
    pub config: Config,
    bundle: Bundle,
    /// What its hosts prove themselves with, as it was read last.
    identities: RefCell<Vec<Identity>>,
}

/// What the files say, not yet what it means: Perl in it may have a word to add.
#[derive(Debug)]
pub struct Reading(Bundle);

impl Reading {
    /// Reads the files.
    pub fn of(origin: &Origin) -> Result<Reading, Mistakes> {
        let env = |name: &str| std::env::var(name).ok();
        let mut source = Source::disk(&origin.facts.server_root, &env);
        source.defines.clone_from(&origin.defines);
        let reader = origin.reader(&source);
        let facts = Facts { defined: reader.defined(), ..origin.facts.clone() };
        let tree = reader.finish().map_err(Mistakes)?;
        Ok(Reading(Bundle { tree, facts }))
    }

    /// The same for a server that runs.
    pub fn again(origin: &Origin) -> Result<Reading, Mistakes> {
        let mut reading = Reading::of(origin)?;
        reading.0.facts.reload = true;
        Ok(reading)
    }

    /// What stands in the files.
    pub fn tree(&self) -> &[Directive] {
        &self.0.tree
    }

    /// Where relative paths start.
    pub fn server_root(&self) -> PathBuf {
        crate::config::server_root(&self.0.tree, &self.0.facts)
    }

    /// Whether the meaning depends on Perl code.
    pub fn needs_perl(&self) -> bool {
        needs_perl(&self.0.tree)
    }

    /// What is said so far, mistakes left out.
    pub fn sketch(&self) -> Config {
        Config::sketch(&self.0.tree, &self.0.facts)
    }

    /// For the expander.
    pub fn for_expander(mut self) -> std::io::Result<Fd> {
        self.0.facts.expanded = Some(Expanded::default());
        in_memory_of(&self.0)
    }

    /// What it means, when it needs no Perl.
    pub fn finish(self) -> Result<Site, Mistakes> {
        Site::of(self.0)
    }
}

/// A `<Perl>` section; or a name that nobody knows where a module, loaded before, may know it.
fn needs_perl(tree: &[Directive]) -> bool {
    let is = |directive: &Directive, name: &str| directive.name.eq_ignore_ascii_case(name);
    let loads = |d: &Directive| is(d, "PerlModule") || is(d, "PerlRequire") || is(d, "PerlEval");
    let all: Vec<&Directive> = flat(tree).collect();
    let unknown = all.iter().rposition(|directive| !directives::is_known(&directive.name));
    all.iter().any(|directive| is(directive, "Perl"))
        || unknown.is_some_and(|last| all[..last].iter().any(|directive| loads(directive)))
}

/// Whether `User` can write there the front finds out.
fn check_spool_directory(config: &Config) -> Result<(), Mistakes> {
    match &config.spooling.folder {
        Some(folder) if !folder.is_dir() => {
            let message =
                format!("SpoolDirectory: {} is no folder: make it, so that User can write there", folder.display());
            Err(Mistakes(vec![ConfigError { at: None, message }]))
        }
        _ => Ok(()),
    }
}

fn flat(tree: &[Directive]) -> Box<dyn Iterator<Item = &Directive> + '_> {
    Box::new(tree.iter().flat_map(|d| std::iter::once(d).chain(flat(d.section.as_deref().unwrap_or_default()))))
}

impl Site {
    /// What a configuration means that is read completely.
    pub fn of(bundle: Bundle) -> Result<Site, Mistakes> {
        let mut config = bundle.build().map_err(Mistakes)?;
        check_log_formats(&config, &bundle.tree)?;
        check_spool_directory(&config)?;
        let (identities, odd) = tls::read(&config).map_err(Mistakes)?;
        config.warnings.extend(odd);
        Ok(Site { config, bundle, identities: RefCell::new(identities) })
    }

    /// What it was made from besides its text.
    pub fn facts(&self) -> &Facts {
        &self.bundle.facts
    }

    /// The descriptor that goes with a `Configure` message.
    pub fn in_memory(&self) -> std::io::Result<Fd> {
        in_memory_of(&self.bundle)
    }

    /// The descriptor with certificates and keys that only the front gets.
    pub fn identities_in_memory(&self) -> std::io::Result<Fd> {
        Ok(Fd::new(in_memory("certificates", &serde_json::to_vec(&*self.identities.borrow())?)?.into()))
    }

    /// Reads certificates and keys again. Says whether they have changed; those that cannot be used change nothing.
    pub fn renew_identities(&self) -> Result<bool, Mistakes> {
        let (identities, odd) = tls::read(&self.config).map_err(Mistakes)?;
        let changed = *self.identities.borrow() != identities;
        if changed {
            odd.iter().for_each(|odd| log::warn("master", odd));
        }
        self.identities.replace(identities);
        Ok(changed)
    }

    /// `site.conf:3: Listen 127.0.0.1:8080`: where an address to listen on was asked for.
    pub fn place_of(&self, listen: &Listen) -> String {
        let means =
            |d: &&Directive| d.name.eq_ignore_ascii_case("Listen") && d.args.first().is_some_and(|a| same(a, listen));
        match self.bundle.tree.iter().find(means) {
            Some(d) => format!("{}: Listen {}", d.at, d.args.join(" ")),
            None => format!("Listen {}", super::listeners::name(listen)),
        }
    }
}

fn in_memory_of(bundle: &Bundle) -> std::io::Result<Fd> {
    Ok(Fd::new(in_memory("configuration", &serde_json::to_vec(bundle)?)?.into()))
}

/// Which items a log can have only the front knows; that one is wrong must be said before it starts.
fn check_log_formats(config: &Config, tree: &[Directive]) -> Result<(), Mistakes> {
    for log in config.hosts.iter().flat_map(|host| &host.access_logs) {
        crate::front::check_log_format(&log.format).map_err(|reason| {
            let said = flat(tree).find(|directive| directive.args.contains(&log.format));
            let name = said.map_or("CustomLog", |directive| &directive.name);
            let message = format!("{name} \"{}\": {reason}", log.format);
            Mistakes(vec![ConfigError { at: said.map(|directive| directive.at.clone()), message }])
        })?;
    }
    Ok(())
}

impl Origin {
    /// The file, or `command line`.
    pub fn name(&self) -> String {
        match &self.from {
            From::File(path) => path.display().to_string(),
            From::Text(_) => "command line".to_string(),
        }
    }

    fn reader<'a>(&self, source: &'a Source<'a>) -> Reader<'a> {
        let mut reader = Reader::new(source);
        self.before.iter().for_each(|line| reader.text(line, "command line"));
        match &self.from {
            From::File(path) => reader.load(path),
            From::Text(text) => reader.text(text, "command line"),
        }
        self.after.iter().for_each(|line| reader.text(line, "command line"));
        reader
    }
}

/// Whether this argument of `Listen` means this address: `8080`, `*:8080` and `0.0.0.0:8080` are one.
fn same(argument: &str, listen: &Listen) -> bool {
    match listen {
        Listen::Unix(path) => argument.trim_start_matches("unix:") == path.to_string_lossy(),
        Listen::Tcp(address) => {
            argument == address.to_string()
                || (address.ip().is_unspecified() && argument.rsplit(':').next() == Some(&address.port().to_string()))
        }
    }
}
