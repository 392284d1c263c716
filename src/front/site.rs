//! One generation as the front sees it: its configuration and everything that is made from it.

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use wire::control::Generation;

use super::Front;
use super::limits::concurrency::Throttles;
use super::limits::rate::Speeds;
use super::log::access_log::AccessLogs;
use super::log::error_logs::ErrorLogs;
use super::routing::Routes;
use super::workers::Workers;
use crate::config::{Bundle, Config, Directive};
use crate::open::Opener;
use crate::tls::{Identity, Servers};

/// See the module's text.
pub struct Site {
    /// Its number.
    pub generation: Generation,
    /// What was configured.
    pub config: Arc<Config>,
    /// The same as it was written, for the page about it.
    pub tree: Vec<Directive>,
    /// What it says that it is.
    pub software: String,
    /// Its workers and its queue.
    pub pool: Workers,
    /// Where paths lead.
    pub routes: Routes,
    /// How its files are opened.
    pub opener: Opener,
    /// How many requests are under way where that is limited.
    pub throttles: Throttles,
    /// How fast clients are where that is limited.
    pub speeds: Speeds,
    /// How its hosts speak TLS.
    pub tls: RefCell<Rc<Servers>>,
    /// Where its requests are logged.
    pub access_logs: AccessLogs,
    /// Where the errors of hosts with a log of their own are logged.
    pub error_logs: ErrorLogs,
    /// The shortest `KeepAliveTimeout` of its hosts.
    pub shortest_keep_alive: Duration,
    /// The sockets that it serves, from the time it begins to.
    pub listeners: Cell<Vec<(String, OwnedFd)>>,
}

impl Site {
    /// Understands what the master prepared: a memfd with a bundle, one with certificates, access logs and listeners.
    pub fn new(
        front: &Rc<Front>,
        generation: Generation,
        (bundle, identities): (OwnedFd, OwnedFd),
        mut logs: Vec<OwnedFd>,
        listeners: Vec<(String, OwnedFd)>,
    ) -> anyhow::Result<Site> {
        let text = wire::transport::read_configuration(bundle).context("configuration")?;
        let bundle: Bundle = serde_json::from_slice(&text).context("configuration")?;
        let config = Arc::new(Config::build(&bundle.tree, &bundle.facts).map_err(first)?);
        Ok(Site {
            generation,
            tree: bundle.tree,
            software: String::new(),
            pool: Workers::new(front, generation, &config),
            routes: Routes::new(&config),
            opener: Opener::default(),
            throttles: Throttles::default(),
            speeds: Speeds::default(),
            tls: RefCell::new(servers(front, &config, identities)?),
            error_logs: ErrorLogs::new(logs.split_off(config.logs.len().min(logs.len()))),
            access_logs: AccessLogs::new(&config, logs)?,
            shortest_keep_alive: config.hosts.iter().map(|host| host.keep_alive.within()).min().unwrap_or_default(),
            listeners: Cell::new(listeners),
            config,
        })
    }
}

impl Site {
    /// From the next connection on, these certificates.
    pub fn renew_identities(&self, front: &Front, identities: OwnedFd) -> anyhow::Result<()> {
        let servers = servers(front, &self.config, identities)?;
        self.tls.replace(servers);
        Ok(())
    }
}

fn servers(front: &Front, config: &Config, identities: OwnedFd) -> anyhow::Result<Rc<Servers>> {
    let text = wire::transport::read_configuration(identities).context("certificates")?;
    let identities: Vec<Identity> = serde_json::from_slice(&text).context("certificates")?;
    Ok(Rc::new(Servers::new(config, &identities, &front.sessions).context("certificates")?))
}

/// The master has shown them all; here there should be none.
fn first(errors: Vec<crate::config::ConfigError>) -> anyhow::Error {
    errors.into_iter().next().map_or_else(|| anyhow!("configuration"), anyhow::Error::from)
}
