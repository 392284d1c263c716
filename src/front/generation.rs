//! One generation as the front sees it: its configuration and everything that is made from it.

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use wire::control::GenerationNumber;

use super::base::shared::Shared;
use super::log::access_log::AccessLogs;
use super::log::error_logs::ErrorLogs;
use super::routing::Routes;
use super::workers::{Worker, Workers};
use crate::config::{Bundle, Config, Directive};
use crate::open::Opener;
use crate::tls::{Identity, Servers, Sessions};

/// What the master prepared for a generation.
pub struct Prepared {
    /// A memfd with a [`Bundle`].
    pub bundle: OwnedFd,
    /// One with the certificates and keys of its hosts.
    pub identities: OwnedFd,
    /// Access logs and error logs, in the order in which the configuration names them.
    pub logs: Vec<OwnedFd>,
    /// The sockets that it serves, with their addresses.
    pub listeners: Vec<(String, OwnedFd)>,
    /// What the server says that it is.
    pub software: String,
}

pub struct Generation {
    pub number: GenerationNumber,
    /// What was configured.
    pub config: Arc<Config>,
    /// The directives, for the page `server-info`.
    pub tree: Vec<Directive>,
    /// For the `Server` header and the pages about the server.
    pub software: String,
    /// Its workers and its queue.
    pub pool: Rc<Workers>,
    /// Where paths lead.
    pub routes: Routes,
    /// How its files are opened.
    pub opener: Opener,
    /// How its hosts speak TLS.
    pub tls: RefCell<Rc<Servers>>,
    /// Where its requests are logged.
    pub access_logs: AccessLogs,
    /// Where the errors of hosts with a log of their own are logged.
    pub error_logs: Rc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` of its hosts.
    pub shortest_keep_alive: Duration,
    /// The listeners that it will accept on, until it is activated.
    pub listeners: Cell<Vec<(String, OwnedFd)>>,
}

impl Generation {
    /// Understands what the master prepared.
    pub fn new(
        shared: &Rc<Shared>,
        sessions: &Sessions,
        number: GenerationNumber,
        prepared: Prepared,
    ) -> anyhow::Result<Generation> {
        let Prepared { bundle, identities, mut logs, listeners, software } = prepared;
        let text = wire::transport::read_configuration(bundle).context("configuration")?;
        let bundle: Bundle = serde_json::from_slice(&text).context("configuration")?;
        let config = Arc::new(Config::build(&bundle.tree, &bundle.facts).map_err(first)?);
        Ok(Generation {
            number,
            tree: bundle.tree,
            software,
            pool: Rc::new(Workers::new(shared, number, &config)),
            routes: Routes::new(&config),
            opener: Opener::default(),
            tls: RefCell::new(servers(sessions, &config, identities)?),
            error_logs: Rc::new(ErrorLogs::new(&config, logs.split_off(config.logs.len().min(logs.len())))),
            access_logs: AccessLogs::new(&config, logs)?,
            shortest_keep_alive: config.hosts.iter().map(|host| host.keep_alive.within()).min().unwrap_or_default(),
            listeners: Cell::new(listeners),
            config,
        })
    }

    /// Uses these certificates from the next connection on.
    pub fn renew_identities(&self, sessions: &Sessions, identities: OwnedFd) -> anyhow::Result<()> {
        let servers = servers(sessions, &self.config, identities)?;
        self.tls.replace(servers);
        Ok(())
    }
}

fn servers(sessions: &Sessions, config: &Config, identities: OwnedFd) -> anyhow::Result<Rc<Servers>> {
    let text = wire::transport::read_configuration(identities).context("certificates")?;
    let identities: Vec<Identity> = serde_json::from_slice(&text).context("certificates")?;
    Ok(Rc::new(Servers::new(config, &identities, sessions).context("certificates")?))
}

/// The master has checked the configuration and shown all errors, so here there should be none.
fn first(errors: Vec<crate::config::ConfigError>) -> anyhow::Error {
    errors.into_iter().next().map_or_else(|| anyhow!("configuration"), anyhow::Error::from)
}

/// Every generation that is prepared, serves or drains; oldest first.
#[derive(Default)]
pub struct Generations {
    all: RefCell<Vec<Rc<Generation>>>,
    serving: RefCell<Option<Rc<Generation>>>,
}

impl Generations {
    /// All generations.
    pub fn all(&self) -> Vec<Rc<Generation>> {
        self.all.borrow().clone()
    }

    /// The generation that answers new requests.
    pub fn serving(&self) -> Option<Rc<Generation>> {
        self.serving.borrow().clone()
    }

    /// Lets `generation` answer new requests, and the others finish theirs.
    pub fn serve_with(&self, generation: &Rc<Generation>) {
        for other in self.all.borrow().iter().filter(|other| !Rc::ptr_eq(other, generation)) {
            other.pool.drain();
        }
        *self.serving.borrow_mut() = Some(generation.clone());
    }

    /// Adds a generation that was prepared. It replaces one that was prepared before and never served: that one has failed.
    pub fn add(&self, generation: Rc<Generation>) {
        let serving = self.serving();
        let serves = |other: &Rc<Generation>| serving.as_ref().is_some_and(|serving| Rc::ptr_eq(serving, other));
        let mut all = self.all.borrow_mut();
        all.retain(|other| other.pool.is_draining() || serves(other));
        all.push(generation);
    }

    /// Removes the generations that are over, and returns them.
    pub fn remove(&self, is_over: impl Fn(&Generation) -> bool) -> Vec<Rc<Generation>> {
        self.all.borrow_mut().extract_if(.., |generation| is_over(generation)).collect()
    }

    /// The generation of this number.
    pub fn get(&self, number: GenerationNumber) -> anyhow::Result<Rc<Generation>> {
        let all = self.all.borrow();
        let generation = all.iter().find(|generation| generation.number == number);
        generation.cloned().ok_or_else(|| anyhow!("generation {number} is not known"))
    }

    /// The worker of a slot, which is given out again as soon as its process has ended.
    pub fn worker(&self, slot: u32, fits: impl Fn(&Worker) -> bool) -> Option<Rc<Worker>> {
        let workers = self.all.borrow().iter().flat_map(|generation| generation.pool.all()).collect::<Vec<_>>();
        workers.into_iter().find(|worker| worker.id.slot == slot && !worker.has_ended() && fits(worker))
    }

    /// Whether no request is under way or waits.
    pub fn are_quiet(&self) -> bool {
        self.all.borrow().iter().all(|generation| generation.pool.is_quiet())
    }

    /// Writes what the access logs hold back. Says whether there was something.
    pub fn flush_logs(&self) -> bool {
        self.all.borrow().iter().filter(|generation| generation.access_logs.flush()).count() > 0
    }
}
