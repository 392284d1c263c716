//! One generation as the front sees it: its configuration and everything that is made from it. A [`Generation`] is what all
//! threads have of it, a [`View`] what one thread makes of that: caches are each thread's own, so that no other waits for them.

mod all;
mod aside;
mod open_files;
mod view;

pub use all::Generations;
pub use view::{InUse, View, Views};

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use wire::control::{GenerationNumber, PoolId};

use super::base::lock::lock;
use super::base::shared::Shared;
use super::cache::Cache;
use super::log::access_log::AccessLogs;
use super::log::error_logs::ErrorLogs;
use super::trace::Exporter;
use super::workers::{Mailboxes, Pools, SharedPool, Worker};
use config::{Bundle, Config, Directive};
use tls::{Identity, Servers, Sessions};

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
    /// The workers and the queue of each of its pools.
    pub pools: Pools<Arc<SharedPool>>,
    /// Answers that are kept, if a place wants some kept. A reload begins with none: what programs say may have changed.
    pub cache: Option<Arc<Cache>>,
    /// How its hosts speak TLS.
    tls: Mutex<Arc<Servers>>,
    /// Where its requests are logged.
    pub access_logs: AccessLogs,
    /// Where spans of its requests are sent, if anywhere.
    pub exporter: Option<Exporter>,
    /// Where the errors of hosts with a log of their own are logged.
    pub error_logs: Arc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` of its hosts.
    pub shortest_keep_alive: Duration,
    /// Requests that may still want one of its workers.
    users: AtomicU64,
    /// Another one serves.
    superseded: AtomicBool,
    /// The listeners that it will accept on, until it is activated.
    pub listeners: Mutex<Vec<(String, OwnedFd)>>,
}

impl Generation {
    /// Understands what the master prepared.
    pub fn new(
        shared: &Arc<Shared>,
        mailboxes: &Mailboxes,
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
            pools: Pools::new(config.pool_count(), |pool| {
                Arc::new(SharedPool::new(shared, mailboxes, PoolId { generation: number, pool }, &config))
            }),
            cache: cache(&config),
            tls: Mutex::new(servers(sessions, &config, identities)?),
            error_logs: Arc::new(ErrorLogs::new(&config, logs.split_off(config.logs.len().min(logs.len())))),
            access_logs: AccessLogs::new(&config, logs)?,
            exporter: Exporter::start(&config.traces).context("TraceExport")?,
            shortest_keep_alive: config.hosts.iter().map(|host| host.keep_alive.within()).min().unwrap_or_default(),
            users: AtomicU64::new(0),
            superseded: AtomicBool::new(false),
            listeners: Mutex::new(listeners),
            config,
        })
    }

    /// Another one serves. Its workers leave, but one stays while there are requests that may still want it: their bodies are
    /// on their way.
    fn supersede(&self) {
        self.superseded.store(true, SeqCst);
        self.let_go();
    }

    /// Lets those of its workers leave that nobody will want any more, when another one serves. Called by the clock.
    pub fn let_go(&self) {
        if !self.is_superseded() || self.is_draining() {
            return;
        }
        let is_used = self.users.load(SeqCst) > 0;
        for pool in self.pools.iter() {
            match is_used {
                false => pool.drain(),
                true => pool.leave_idle((pool.load().idle as usize).saturating_sub(1)),
            }
        }
    }

    /// Whether another one serves.
    pub fn is_superseded(&self) -> bool {
        self.superseded.load(SeqCst)
    }

    /// Whether everything of it is answered.
    pub fn is_over(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_draining() && pool.is_quiet())
    }

    fn is_draining(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_draining())
    }

    /// Whether no request is under way or waits.
    pub fn is_quiet(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_quiet())
    }

    /// All workers of all its pools.
    pub fn workers(&self) -> Vec<Arc<Worker>> {
        self.pools.iter().flat_map(|pool| pool.all()).collect()
    }

    /// Uses these certificates from the next connection on.
    pub fn renew_identities(&self, sessions: &Sessions, identities: OwnedFd) -> anyhow::Result<()> {
        let servers = servers(sessions, &self.config, identities)?;
        *lock(&self.tls) = servers;
        Ok(())
    }

    /// How its hosts speak TLS. Certificates that are renewed meanwhile are for later connections.
    pub fn tls(&self) -> Arc<Servers> {
        lock(&self.tls).clone()
    }
}

fn cache(config: &Config) -> Option<Arc<Cache>> {
    let is_wanted = config.sections.iter().any(|section| section.said.caching.enables());
    is_wanted.then(|| Arc::new(Cache::new(config.cache_size)))
}

fn servers(sessions: &Sessions, config: &Config, identities: OwnedFd) -> anyhow::Result<Arc<Servers>> {
    let text = wire::transport::read_configuration(identities).context("certificates")?;
    let identities: Vec<Identity> = serde_json::from_slice(&text).context("certificates")?;
    Ok(Arc::new(Servers::new(config, &identities, sessions).context("certificates")?))
}

/// The master has checked the configuration and shown all errors, so here there should be none.
fn first(errors: Vec<config::ConfigError>) -> anyhow::Error {
    errors.into_iter().next().map_or_else(|| anyhow!("configuration"), anyhow::Error::from)
}
