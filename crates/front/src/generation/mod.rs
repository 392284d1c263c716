//! A generation in the front: its configuration and everything made from it.
//! All threads share a [`Generation`]; each thread has its own [`View`] with its own caches, so that threads do not
//! wait for each other.

mod all;
mod aside;
mod map_databases;
mod map_programs;
mod open_files;
mod view;

pub use all::Generations;
pub use view::{InUse, View, Views};

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use http::HeaderValue;
use wire::control::{GenerationNumber, PoolId};

use super::base::lock::lock;
use super::base::shared::Shared;
use super::cache::Cache;
use super::cache::shared::SharedCache;
use super::failures::FailureRecorder;
use super::limits::pace::SharedPace;
use super::limits::turns::SharedTurns;
use super::log::access_log::AccessLogs;
use super::log::error_logs::ErrorLogs;
use super::routing::server_name;
use super::trace::Exporter;
use super::workers::{Mailboxes, Pools, SharedPool, Worker};
use config::{Bundle, Config, Directive, Host};
use stores::StoreReport;
use tls::{Servers, Sessions, TlsFiles};

/// The parts of a generation that the master has prepared.
pub struct Prepared {
    /// A memfd with a [`Bundle`].
    pub bundle: OwnedFd,
    /// A memfd with the certificates and keys of the generation's hosts.
    pub identities: OwnedFd,
    /// Access logs and error logs, in the order of the configuration.
    pub logs: Vec<OwnedFd>,
    /// The listening sockets with their addresses.
    pub listeners: Vec<(String, OwnedFd)>,
    /// The server's product string.
    pub software: String,
}

pub struct Generation {
    pub number: GenerationNumber,
    /// The configuration built from the directives.
    pub config: Arc<Config>,
    /// The directives, for the `server-info` page.
    pub tree: Vec<Directive>,
    /// The product string for the `Server` header and the server's pages.
    pub software: String,
    /// The `Server` header.
    pub server_header: HeaderValue,
    /// The workers and the queue of each pool.
    pub pools: Pools<Arc<SharedPool>>,
    /// The response cache, if a section enables caching. A reload starts with an empty cache, because the programs may
    /// have changed.
    pub cache: Option<Arc<Cache>>,
    /// The TLS configurations of the generation's hosts.
    tls: Mutex<Arc<Servers>>,
    /// The access logs of the generation's hosts.
    pub access_logs: AccessLogs,
    /// Writes failed requests to files, if that is configured.
    pub failures: Option<FailureRecorder>,
    /// Sends request spans to a collector, if traces are configured.
    pub exporter: Option<Exporter>,
    /// The state of the store of `LimitStore`, if there is one.
    pub limit_report: Option<Arc<StoreReport>>,
    /// The running requests that other servers count, too.
    pub turns: Option<Arc<SharedTurns>>,
    /// The error logs of hosts with a log of their own.
    pub error_logs: Arc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` or `Timeout` among the generation's hosts.
    pub shortest_wait: Duration,
    /// Number of requests that may still need a worker of this generation.
    users: AtomicU64,
    /// Whether another generation serves.
    superseded: AtomicBool,
    /// The listening sockets, until the generation is activated.
    pub listeners: Mutex<Vec<(String, OwnedFd)>>,
}

impl Generation {
    /// Builds a generation from the parts that the master prepared.
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
        access::forget_cached_hashes();
        Ok(Generation {
            number,
            tree: bundle.tree,
            server_header: server_name::header(&software),
            software,
            pools: Pools::new(config.pool_count(), |pool| {
                Arc::new(SharedPool::new(shared, mailboxes, PoolId { generation: number, pool }, &config))
            }),
            cache: cache(&config),
            tls: Mutex::new(servers(sessions, &config, identities)?),
            error_logs: Arc::new(ErrorLogs::new(&config, logs.split_off(config.logs.len().min(logs.len())))),
            access_logs: AccessLogs::new(&config, logs)?,
            failures: FailureRecorder::start(&config).context("RecordFailures")?,
            exporter: Exporter::start(&config.traces).context("TraceExport")?,
            limit_report: SharedPace::report(&config.stores),
            turns: SharedTurns::new(&config.stores),
            shortest_wait: config.hosts.iter().map(shortest_wait).min().unwrap_or_default(),
            users: AtomicU64::new(0),
            superseded: AtomicBool::new(false),
            listeners: Mutex::new(listeners),
            config,
        })
    }

    /// Marks the generation as superseded and lets its workers exit.
    /// Each pool retains an idle worker while requests may still need one, for example requests whose bodies are still
    /// arriving.
    fn supersede(&self) {
        self.superseded.store(true, SeqCst);
        self.let_go();
    }

    /// Lets workers of a superseded generation exit that no request may need any more. Called by the clock.
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

    /// Whether another generation serves.
    pub fn is_superseded(&self) -> bool {
        self.superseded.load(SeqCst)
    }

    /// Whether the generation is drained and all its requests are answered. Until then its event workers get messages
    /// for their open connections.
    pub fn is_over(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_draining() && pool.is_quiet() && !pool.has_streams())
    }

    fn is_draining(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_draining())
    }

    /// Whether no request is running or queued.
    pub fn is_quiet(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_quiet())
    }

    pub fn workers(&self) -> Vec<Arc<Worker>> {
        self.pools.iter().flat_map(|pool| pool.all()).collect()
    }

    /// Replaces the certificates, for connections accepted from now on.
    pub fn renew_identities(&self, sessions: &Sessions, identities: OwnedFd) -> anyhow::Result<()> {
        let servers = servers(sessions, &self.config, identities)?;
        *lock(&self.tls) = servers;
        Ok(())
    }

    /// The current TLS configurations. Connections that are already open use the configurations from their start.
    pub fn tls(&self) -> Arc<Servers> {
        lock(&self.tls).clone()
    }
}

fn cache(config: &Config) -> Option<Arc<Cache>> {
    let is_wanted = config.sections.iter().any(|section| section.own.caching.enables());
    is_wanted.then(|| Arc::new(Cache::new(config.cache_size, SharedCache::new(config))))
}

fn servers(sessions: &Sessions, config: &Config, identities: OwnedFd) -> anyhow::Result<Arc<Servers>> {
    let text = wire::transport::read_configuration(identities).context("certificates")?;
    let certificates: TlsFiles = serde_json::from_slice(&text).context("certificates")?;
    Ok(Arc::new(Servers::new(config, certificates, sessions).context("certificates")?))
}

/// The first error. The master has already checked the configuration and reported its errors, so none is expected
/// here.
fn first(errors: Vec<config::ConfigError>) -> anyhow::Error {
    errors.into_iter().next().map_or_else(|| anyhow!("configuration"), anyhow::Error::from)
}

/// The shorter of `KeepAliveTimeout` and `Timeout` of a host.
fn shortest_wait(host: &Host) -> Duration {
    let kept = host.keep_alive.within();
    host.timeout.map_or(kept, |timeout| timeout.min(kept))
}
