//! The checked configuration, and its inputs besides the text.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wire::control::PoolNumber;

use crate::model::access::{HashLimits, LdapServer, PartialAccess, ProviderAlias};
use crate::model::clients::{Clients, Spooling};
use crate::model::fastcgi::servers::StaticServer;
use crate::model::host::Host;
use crate::model::identity::Tokens;
use crate::model::node::NodeSettings;
use crate::model::overrides::PerlHtaccess;
use crate::model::perl::api::{MODPERL2, PerlGeneration};
use crate::model::protocols::Http2;
use crate::model::proxy::balancer::Balancer;
use crate::model::server::{
    HistorySetting, Listen, LogTarget, MonitorSettings, NamedPool, Pages, PerlSwitches, PoolSettings, RecordedFailures,
    RequestLimits, Timeouts,
};
use crate::model::settings::Section;
use crate::model::start_up::warm_up::WarmUp;
use crate::model::start_up::{NamedHandler, StartUp};
use crate::model::store::{SharedStores, StoreUrl};
use crate::model::tls::managed::ManagedCertificates;
use crate::model::traces::Traces;
use crate::syntax::tree::{At, ConfigError, Directive};
use base::log::{self, LogLevel};

/// A checked configuration.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// `ServerRoot`, the start of relative paths.
    pub server_root: PathBuf,
    /// `User`: the user of the front and of Perl processes, when root starts the server.
    pub user: Option<String>,
    /// `Group`: group of the workers.
    pub group: Option<String>,
    /// `PidFile`: contains the master's process id while it runs.
    pub pid_file: Option<PathBuf>,
    /// `Listen`: at least one address.
    pub listen: Vec<Listen>,
    /// `Listen … https`: address, and position of the directive.
    pub https: Vec<(Listen, At)>,
    /// Limits of HTTP/2.
    pub http2: Http2,
    /// `ListenBacklog`: maximum number of connections that the kernel queues before accept.
    pub listen_backlog: u32,
    /// The default pool of workers.
    pub pool: PoolSettings,
    /// Other pools of workers.
    pub more_pools: Vec<NamedPool>,
    /// The pool of the processes that run CGI programs, without Perl. `None`: no place has programs, or workers run
    /// them.
    pub program_pool: Option<Box<NamedPool>>,
    /// `BroadcastMaxMessage`, in bytes.
    pub broadcast_max_message: u64,
    /// `BroadcastTransport`; `None`: messages stay within this server.
    pub broadcast_store: Option<StoreUrl>,
    /// `LimitStore`, `CacheStore`, `StoreTimeout`, `CacheKeyVersion`.
    pub stores: SharedStores,
    /// `HoldConnections`: maximum number of responses that the front holds.
    pub hold_connections: usize,
    /// `CgiMaxProcesses`
    pub max_programs: u32,
    /// Whether pools use both of mod_perl's APIs.
    pub uses_both_apis: bool,
    /// The pool for which this copy was made: see [`Config::for_pool`].
    pub own_pool: PoolNumber,
    /// `Timeout`, `GracefulShutdownTimeout`, `StartTimeout`, `FrontTimeout` and `SlowLog`.
    pub timeouts: Timeouts,
    /// Maximum sizes of request heads.
    pub limits: RequestLimits,
    /// `MaxConnections`, `MaxConnectionsPerClient`, `FrontThreads`.
    pub clients: Clients,
    /// `CacheSize`: maximum size of all cached responses, in bytes.
    pub cache_size: u64,
    /// Temporary files for request bodies and for responses to slow clients.
    pub spooling: Spooling,
    /// `LimitPasswordHash`: maximum cost of password hashes.
    pub hash_limits: HashLimits,
    /// `LDAPTrustedMode`, `LDAPTimeout` and so on.
    pub ldap: LdapServer,
    /// `OpenFileCache`: number of files that each thread of the front keeps open.
    pub open_file_cache: u32,
    /// Perl's command line switches, and API.
    pub perl: PerlSwitches,
    /// `PerlPrepare`: code that molds run as soon as Perl is booted, and its position.
    pub perl_prepare: Option<(String, At)>,
    /// Huge pages and page merging for mold and workers.
    pub pages: Pages,
    /// The whole tree for Apache2::Directive, one directive per line: depth, line, file, name and arguments, separated
    /// by NUL.
    pub outline: String,
    /// Start-up steps of the mold, in file order.
    pub start_up: Vec<StartUp>,
    /// Warm-up requests of the mold, in file order.
    pub warm_up: Vec<WarmUp>,
    /// All Perl handlers, for `check`.
    pub handlers: Vec<NamedHandler>,
    /// `ErrorLog` of the main server.
    pub error_log: LogTarget,
    /// `LogLevel`
    pub log_level: LogLevel,
    /// `ErrorLogFormat json`
    pub error_log_json: bool,
    /// `RecordFailures`, `RecordFailuresDirectory`
    pub failures: RecordedFailures,
    /// `TraceContext`, `TraceExport`, `TraceSample`, `TraceService`.
    pub traces: Traces,
    /// `ErrorLog` of virtual hosts, without duplicates; indexed by [`Host::error_log`].
    pub error_logs: Vec<LogTarget>,
    /// All access logs without duplicates, in order of first mention; indexed by `AccessLog::log`.
    pub logs: Vec<LogTarget>,
    /// Hosts. The first is the main server, which handles requests that match no virtual host.
    pub hosts: Vec<Host>,
    /// Balancers of all hosts.
    pub balancers: Vec<Balancer>,
    /// `FastCgiServer`: programs of which processes run from the start on.
    pub fastcgi_servers: Vec<Arc<StaticServer>>,
    /// Whether a host passes its connections to workers.
    pub hands_over_connections: bool,
    /// All sections that can be merged; indexed by [`Config::settings`]. The first holds the defaults of the
    /// table, is the base of every merge, and belongs to no host.
    pub sections: Vec<Section>,
    /// `TypesConfig`: extension (without dot, lower case) to MIME type. `None`: the built-in types.
    pub types: Option<BTreeMap<String, String>>,
    /// `MDomain` and other directives about certificates that the server gets by itself.
    pub managed: ManagedCertificates,
    /// `AdminListen`, `AdminToken`, `HistoryFile`, `AgentCheckListen`.
    pub monitor: MonitorSettings,
    /// `ShutdownDelay`, `SlowStart`, `ReadinessCheck`, `RetryStatus`, `LoadReport`.
    pub node: NodeSettings,
    /// `ControlSocket`; `None`: the master chooses a path.
    pub control_socket: Option<PathBuf>,
    /// Warnings about adjusted or ignored directives, to be logged once.
    pub warnings: Vec<ConfigError>,
    /// Positions of the warnings about lines of httpd that have no effect here.
    pub without_effect: Vec<At>,
    /// `ServerTokens`
    pub tokens: Tokens,
    /// `RegisterHttpMethod`
    pub methods: Vec<String>,
    /// `PerlHtaccess`
    pub perl_htaccess: PerlHtaccess,
    /// Whether any Perl handler controls access. It may define words of `AuthType` and `Require`.
    pub perl_access: bool,
    /// `PerlAddAuthzProvider`: names for `Require`, with their handlers.
    pub authz_providers: BTreeMap<String, String>,
    /// `PerlAddAuthnProvider`: names for `AuthBasicProvider`, with their handlers.
    pub authn_providers: BTreeMap<String, String>,
    /// `<AuthnProviderAlias>`: names in lower case for `AuthBasicProvider` and `AuthDigestProvider`.
    pub authn_aliases: BTreeMap<String, ProviderAlias>,
    /// `<AuthzProviderAlias>`: names in lower case for `Require`.
    pub authz_aliases: BTreeMap<String, ProviderAlias>,
    /// Inputs of this configuration; `.htaccess` files are read with the same.
    pub facts: Facts,
    /// Whether any section is an `<If>`.
    pub uses_branches: bool,
}

impl Config {
    /// The settings of an alias's section.
    pub fn settings_of_alias(&self, alias: &ProviderAlias) -> Option<Arc<PartialAccess>> {
        Some(Arc::new(self.sections.get(usize::from(alias.section))?.own.access.clone()))
    }
}

/// Inputs of a configuration besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// `-d`; a `ServerRoot` directive takes precedence.
    pub server_root: PathBuf,
    /// Path of the configuration file, for errors without a line; empty if unknown.
    #[serde(default)]
    pub file: String,
    /// Working folder at the start: the base of a relative `ServerRoot`.
    pub started_in: PathBuf,
    /// The master's environment, for `PerlPassEnv`.
    pub env: Vec<(String, String)>,
    /// Warnings about files beside the configuration.
    #[serde(default)]
    pub odd: Vec<ConfigError>,
    /// Names of `-D` and `Define` with their values, for `Apache->define`.
    pub defined: Vec<(String, Option<String>)>,
    /// Result of running the configuration's Perl code, once it has run.
    pub expanded: Option<Expanded>,
    /// Whether a running server reads its configuration again.
    pub reload: bool,
    /// Whether this is only a check: missing handlers are errors now, rather than at the first request.
    pub check: bool,
    /// Whether the server is one process (`serve -X`), whose only worker answers all requests.
    #[serde(default)]
    pub single: bool,
    /// The key of the nonces of Digest authentication: random at each start, the same after a reload.
    #[serde(default)]
    pub nonce_key: [u8; 16],
    /// Set for a second instance that is measured beside the running server.
    #[serde(default)]
    pub shadow: Option<ShadowChanges>,
}

impl Facts {
    /// The API, from the definition of MODPERL2.
    pub fn generation(&self) -> PerlGeneration {
        match self.defined.iter().any(|(name, _)| name == MODPERL2) {
            true => PerlGeneration::Two,
            false => PerlGeneration::One,
        }
    }
}

/// Result of running the configuration's Perl code.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Expanded {
    /// Directives that Perl modules define and the configuration uses, in lower case.
    pub own: Vec<String>,
    /// All directives that Perl modules define; `.htaccess` files may use them.
    #[serde(default)]
    pub defined: Vec<String>,
}

/// Differences of a second instance of the site, which runs on other ports to be measured. The running server is not
/// affected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShadowChanges {
    /// Process id of the measuring process; the instance ends with it.
    pub owner: i32,
    /// Folder of the control socket and the error log.
    pub folder: PathBuf,
    /// Ports on 127.0.0.1, one for each address of the site, in their order.
    pub ports: Vec<u16>,
    /// Directives that replace all others of the same name, or are added at the end if there is none.
    pub instead: Vec<Directive>,
}

impl ShadowChanges {
    /// Pairs of an address of the site and its substitute.
    pub fn addresses<'a>(&'a self, listen: &'a [Listen]) -> impl Iterator<Item = (&'a Listen, SocketAddr)> {
        listen.iter().zip(self.ports.iter().map(|port| (Ipv4Addr::LOCALHOST, *port).into()))
    }
}

impl Config {
    /// The balancer of this name for a host: its own, or that of the main server with `BalancerInherit`.
    pub fn balancer(&self, host: u16, name: &str) -> Option<&Balancer> {
        let find = |host: u16| self.balancers.iter().find(|one| one.host == host && one.name == name);
        let configured = [usize::from(host), 0].into_iter().find_map(|host| self.hosts.get(host)?.inherits_balancers);
        let inherits = configured != Some(false);
        find(host).or_else(|| find(0).filter(|_| inherits))
    }

    /// A configuration without values, before the defaults of the table are applied.
    pub fn empty(server_root: PathBuf, facts: &Facts) -> Config {
        Config {
            server_root,
            hosts: vec![Host::default()],
            sections: vec![Section::default()],
            facts: facts.clone(),
            uses_branches: false,
            perl: PerlSwitches { generation: facts.generation(), ..Default::default() },
            ..Config::default()
        }
    }

    /// The first folder of systemd's `StateDirectory`.
    pub fn state_folder(&self) -> Option<PathBuf> {
        let (_, folders) = self.facts.env.iter().find(|(name, _)| name == "STATE_DIRECTORY")?;
        folders.split(':').find(|folder| folder.starts_with('/')).map(PathBuf::from)
    }

    /// `MDStoreDir`, or the folder `md` in systemd's `StateDirectory` or else in `ServerRoot`.
    pub fn certificate_store(&self) -> PathBuf {
        let base = self.state_folder().unwrap_or_else(|| self.server_root.clone());
        self.managed.store.clone().unwrap_or_else(|| base.join("md"))
    }

    /// The file in which the list of late code lies between two runs (`PerlPreload auto`): in systemd's
    /// `StateDirectory`, or else `HistoryFile` with `.preload` at the end: a folder may have those of several servers.
    pub fn preload_file(&self) -> Option<PathBuf> {
        let beside = || match &self.monitor.history {
            HistorySetting::File(path) => {
                let mut name = path.clone().into_os_string();
                name.push(".preload");
                Some(PathBuf::from(name))
            }
            HistorySetting::Auto | HistorySetting::Off => None,
        };
        let file = self.state_folder().map(|folder| folder.join("preload")).or_else(beside);
        file.filter(|_| self.perl.preload)
    }

    /// Whether a host uses TLS, and so needs a certificate.
    pub fn wants_tls(&self, host: &Host) -> bool {
        let https = self.https.iter().map(|(listen, _)| listen);
        let listens = https.clone().any(|listen| host.addresses.is_empty() || host.may_be_at(listen));
        host.tls.is_on(listens)
    }

    /// Sets which lines this process writes to its error log, and in which format: `LogLevel` of `host` or else of the
    /// main server, and `ErrorLogFormat`.
    pub fn apply_log_levels(&self, host: Option<&Host>) {
        let (level, modules) = self.levels(host);
        log::set_levels(level, modules);
        log::write_as_json(self.error_log_json);
    }

    /// The log level of a host, and its levels of single modules.
    pub fn levels<'a>(&'a self, host: Option<&'a Host>) -> (LogLevel, &'a [(String, LogLevel)]) {
        let host = host.or(self.hosts.first());
        let level = host.and_then(|host| host.log_level).unwrap_or(self.log_level);
        let own = host.and_then(|host| host.module_levels.as_deref());
        (level, own.or_else(|| self.hosts.first()?.module_levels.as_deref()).unwrap_or_default())
    }

    /// `LogLevel module:level`, or the general level. `None` as host: the main server.
    pub fn level_of(&self, host: Option<&Host>, module: &str) -> LogLevel {
        let (level, modules) = self.levels(host);
        modules.iter().find(|(known, _)| known == module).map_or(level, |(_, level)| *level)
    }
}
