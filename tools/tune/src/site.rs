//! The site to be tuned: its configuration, positions of its directives, and the arguments of its shadow.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::bail;

use bench::RequestTarget;
use config::{Config, Directive};
use master::configuration::{ConfigReading, Survey};
use toolkit::Misuse;
use toolkit::conf::Conf;

/// The site as known from its configuration.
pub struct TunedSite {
    /// Name of the configuration file.
    pub name: String,
    /// The configuration, without changes by Perl code if it needs Perl.
    pub config: Config,
    tree: Vec<Directive>,
    arguments: Vec<OsString>,
    /// Index of the listener that visitors use, in `config.listen`.
    pub listener: usize,
    /// Scheme, host and port that visitors use.
    pub target: RequestTarget,
}

impl TunedSite {
    /// Reads the configuration. `url` selects the target if it is absolute.
    pub fn of(conf: &Conf, url: Option<&str>) -> anyhow::Result<TunedSite> {
        let origin = conf.origin()?;
        let reading = ConfigReading::of(&origin)?;
        let config = if reading.needs_perl() { reading.sketch() } else { reading.finish()?.config };
        let named = url.filter(|url| !url.starts_with('/')).map(RequestTarget::parse).transpose().map_err(Misuse)?;
        let Some(listener) = listener_for(&config, named.as_ref()) else {
            bail!("{}: no Listen with a port: the second server needs one", origin.name());
        };
        let tls = config.listen.get(listener).is_some_and(|listen| config.speaks_tls(listen.tcp()));
        let target = match named {
            Some(named) => RequestTarget { tls, ..named },
            None => own_name(&config, listener, tls)?,
        };
        let tree = Survey::of(&origin).tree;
        Ok(TunedSite { name: origin.name(), config, tree, arguments: conf.arguments()?, listener, target })
    }

    /// Arguments for a second server: `serve -f site.conf …`.
    pub fn serve_arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// `QueueTimeout` of the main server.
    pub fn queue_timeout(&self) -> Duration {
        let base = self.config.hosts.first().map_or(0, |host| usize::from(host.base));
        let configured =
            |section: usize| self.config.sections.get(section).and_then(|section| section.own.queue_timeout);
        configured(base).or_else(|| configured(0)).unwrap_or_default()
    }

    /// Position of the last directive of this name.
    pub fn place_of(&self, name: &str) -> Option<String> {
        self.all(name).last().map(|directive| directive.at.to_string())
    }

    /// All directives of a name, at any depth.
    pub fn all(&self, name: &str) -> Vec<&Directive> {
        let mut found = Vec::new();
        collect(&self.tree, name, &mut found);
        found
    }
}

fn collect<'t>(tree: &'t [Directive], name: &str, found: &mut Vec<&'t Directive>) {
    for directive in tree {
        if directive.section.is_none() && directive.name.eq_ignore_ascii_case(name) {
            found.push(directive);
        }
        collect(directive.section.as_deref().unwrap_or_default(), name, found);
    }
}

/// The listener with the port of the URL; otherwise the first TCP listener.
fn listener_for(config: &Config, named: Option<&RequestTarget>) -> Option<usize> {
    let ports = || config.listen.iter().map(|listen| listen.tcp().map(|address| address.port()));
    let fits = named.and_then(|named| ports().position(|port| port == Some(named.port)));
    fits.or_else(|| ports().position(|port| port.is_some()))
}

/// A target with the name of the first host of the listener.
fn own_name(config: &Config, listener: usize, tls: bool) -> anyhow::Result<RequestTarget> {
    let address = config.listen.get(listener).and_then(|listen| listen.tcp());
    let host = config.hosts_at(address).next().and_then(|host| config.hosts.get(usize::from(host)));
    let name = host.or(config.hosts.first()).and_then(|host| host.server_name.as_deref()).unwrap_or("localhost");
    let scheme = if tls { "https" } else { "http" };
    RequestTarget::parse(&format!("{scheme}://{name}/")).map_err(|error| Misuse(error).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Facts;
    use config::parse::{ConfigReader, ParserSource};

    fn config(text: &str) -> Config {
        let none = |_: &str| None;
        let source = ParserSource::disk(std::path::Path::new("/"), &none);
        let mut reader = ConfigReader::new(&source);
        reader.option(text, "test");
        Config::sketch(&reader.into_parts().0, &Facts::default())
    }

    #[test]
    fn a_url_selects_its_port_and_without_one_the_first_host() {
        let config =
            config("Listen unix:/s\nListen 80\nListen 443\n<VirtualHost *:80>\nServerName a.test\n</VirtualHost>");
        let target = RequestTarget::parse("http://b.test:443/").expect("a URL");
        assert_eq!(listener_for(&config, Some(&target)), Some(2));
        assert_eq!(listener_for(&config, None), Some(1));
        assert_eq!(own_name(&config, 1, false).expect("a name").url(), "http://a.test/");
        assert_eq!(own_name(&config, 2, true).expect("a name").url(), "https://localhost/");
    }
}
