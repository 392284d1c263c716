//! A configuration as the master needs it: checked, and as the bytes that front and mold build theirs from.

use std::fmt;
use std::path::PathBuf;

use wire::transport::in_memory;

use super::peer::Fd;
use crate::config::parse::{Reader, Source};
use crate::config::{Bundle, Config, ConfigError, Directive, Facts, Listen};

/// Where a configuration is read from, now and at every reload.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file or the text.
    pub from: From,
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
}

impl Site {
    /// Reads and checks it.
    pub fn read(origin: &Origin) -> Result<Site, Mistakes> {
        let tree = origin.tree().map_err(Mistakes)?;
        let config = Config::build(&tree, &origin.facts).map_err(Mistakes)?;
        check_log_formats(&config)?;
        Ok(Site { config, bundle: Bundle { tree, facts: origin.facts.clone() } })
    }

    /// The descriptor that goes with a `Configure` message.
    pub fn in_memory(&self) -> std::io::Result<Fd> {
        let text = serde_json::to_vec(&self.bundle)?;
        Ok(Fd::new(in_memory("configuration", &text)?.into()))
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

/// Which items a log can have only the front knows; that one is wrong must be said before it starts.
fn check_log_formats(config: &Config) -> Result<(), Mistakes> {
    for log in config.hosts.iter().flat_map(|host| &host.access_logs) {
        crate::front::check_log_format(&log.format).map_err(|reason| {
            let message = format!("CustomLog or LogFormat \"{}\": {reason}", log.format);
            Mistakes(vec![ConfigError { at: None, message }])
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

    fn tree(&self) -> Result<Vec<Directive>, Vec<ConfigError>> {
        let env = |name: &str| std::env::var(name).ok();
        let mut source = Source::disk(&self.facts.server_root, &env);
        source.defines.clone_from(&self.facts.defines);
        let mut reader = Reader::new(&source);
        self.before.iter().for_each(|line| reader.text(line, "command line"));
        match &self.from {
            From::File(path) => reader.load(path),
            From::Text(text) => reader.text(text, "command line"),
        }
        self.after.iter().for_each(|line| reader.text(line, "command line"));
        reader.finish()
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
