//! A whole configuration, and what it depends on besides its text.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wire::control::PoolNumber;

use crate::config::model::clients::{Clients, Spooling};
use crate::config::model::host::Host;
use crate::config::model::identity::Tokens;
use crate::config::model::overrides::PerlHtaccess;
use crate::config::model::perl::api::{Generation, MODPERL2};
use crate::config::model::protocols::Http2;
use crate::config::model::server::{
    Listen, LogLevel, LogTarget, Monitor, NamedPool, Pages, PerlSwitches, Pool, RequestLimits, Timeouts,
};
use crate::config::model::settings::Section;
use crate::config::model::start_up::StartUp;
use crate::config::model::start_up::warm_up::WarmUp;
use crate::config::model::traces::Traces;
use crate::config::syntax::tree::{At, ConfigError, Directive};

/// A whole configuration, checked.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Relative paths start here.
    pub server_root: PathBuf,
    /// Who the front and the Perl side run as, when started by root.
    pub user: Option<String>,
    /// The group that they run as.
    pub group: Option<String>,
    /// Holds the master's process id while it runs.
    pub pid_file: Option<PathBuf>,
    /// Where to listen; at least one.
    pub listen: Vec<Listen>,
    /// `Listen … https`, and where it says so.
    pub https: Vec<(Listen, At)>,
    /// The limits of HTTP/2.
    pub http2: Http2,
    /// How many connections the kernel keeps for us before accept.
    pub listen_backlog: u32,
    /// The server's own pool of workers.
    pub pool: Pool,
    /// The others.
    pub more_pools: Vec<NamedPool>,
    /// One of them speaks another API than the server's own.
    pub speaks_both: bool,
    /// Whose this is: see [`Config::for_pool`].
    pub own_pool: PoolNumber,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How large requests may be.
    pub limits: RequestLimits,
    /// `MaxConnections` and what stands beside it.
    pub clients: Clients,
    /// `CacheSize`: bytes of answers that are kept.
    pub cache_size: u64,
    /// Where bodies and answers of slow clients lie.
    pub spooling: Spooling,
    /// `OpenFileCache`: how many files each thread of the front keeps open.
    pub open_file_cache: u32,
    /// What perl is started with.
    pub perl: PerlSwitches,
    /// How the kernel keeps the memory of mold and workers.
    pub pages: Pages,
    /// For mod_perl 2's Apache2::Directive, the whole tree, a line each: depth, line, file, name and arguments, with NUL between them.
    pub outline: String,
    /// What the mold loads, in file order.
    pub start_up: Vec<StartUp>,
    /// What the mold asks of itself then, in file order.
    pub warm_up: Vec<WarmUp>,
    /// Every Perl handler as it is named, where, and of which pool.
    pub handlers: Vec<(PoolNumber, At, String)>,
    /// `ErrorLog` of the main server.
    pub error_log: LogTarget,
    /// `LogLevel`
    pub log_level: LogLevel,
    /// `ErrorLogFormat json`
    pub error_log_json: bool,
    /// `TraceContext` and its kin.
    pub traces: Traces,
    /// `ErrorLog` of virtual hosts, each once; [`Host::error_log`] is an index into it.
    pub error_logs: Vec<LogTarget>,
    /// Every access log once, in order of first mention; `AccessLog::log` is an index into it.
    pub logs: Vec<LogTarget>,
    /// The main server is the first; it answers what no virtual host claims.
    pub hosts: Vec<Host>,
    /// Some of them have their connections handed to workers.
    pub hands_over_connections: bool,
    /// Everything that can be merged; [`Config::settings`] takes indices into it. The first holds the table's
    /// defaults, is under every merge, and belongs to no host.
    pub sections: Vec<Section>,
    /// `TypesConfig`: extension (without dot, lower case) to MIME type.
    pub types: BTreeMap<String, String>,
    /// `AdminListen` and its kin.
    pub monitor: Monitor,
    /// `ControlSocket`; `None`: the master chooses.
    pub control_socket: Option<PathBuf>,
    /// What was adjusted or ignored, as httpd does; to be logged once.
    pub warnings: Vec<ConfigError>,
    /// `ServerTokens`
    pub tokens: Tokens,
    /// `RegisterHttpMethod`
    pub methods: Vec<String>,
    /// `PerlHtaccess`
    pub perl_htaccess: PerlHtaccess,
    /// A Perl handler has a say in who comes in, somewhere: it may know words of `AuthType` and `Require` that we do not.
    pub perl_access: bool,
    /// `PerlAddAuthzProvider`: names that `Require` may have, and who is asked.
    pub authz_providers: BTreeMap<String, String>,
    /// `PerlAddAuthnProvider`: names that `AuthBasicProvider` may have, and who is asked.
    pub authn_providers: BTreeMap<String, String>,
    /// What it was made with; `.htaccess` files are read with the same.
    pub facts: Facts,
}

/// What a configuration depends on besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// `-d`; a `ServerRoot` directive takes precedence.
    pub server_root: PathBuf,
    /// The folder that the server was started in: a relative `ServerRoot` is of it.
    pub started_in: PathBuf,
    /// The master's environment, for `PerlPassEnv`.
    pub env: Vec<(String, String)>,
    /// What was odd about files beside the configuration.
    #[serde(default)]
    pub odd: Vec<ConfigError>,
    /// Names of `-D` and `Define` with their values, for `Apache->define`.
    pub defined: Vec<(String, Option<String>)>,
    /// What the configuration's Perl has said, when it was asked.
    pub expanded: Option<Expanded>,
    /// A server runs, and reads its configuration anew.
    pub reload: bool,
    /// Nothing will be served: every handler is looked for now, which a server does when a request needs it.
    pub check: bool,
    /// It is served once more beside itself, to be measured.
    #[serde(default)]
    pub shadow: Option<Shadow>,
}

impl Facts {
    /// Which API is spoken: whoever read the configuration has defined it.
    pub fn generation(&self) -> Generation {
        match self.defined.iter().any(|(name, _)| name == MODPERL2) {
            true => Generation::Two,
            false => Generation::One,
        }
    }
}

/// What is known after the configuration's Perl has run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Expanded {
    /// Directives that Perl modules define, in lower case: those that the configuration uses.
    pub own: Vec<String>,
    /// All that the modules define, which `.htaccess` files may use.
    #[serde(default)]
    pub defined: Vec<String>,
}

/// The same site once more, on ports of its own, for measurements: what is different about it. Nothing of the running one is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// The process that measures, whose end is its own.
    pub owner: i32,
    /// Its control socket and its error log lie there.
    pub folder: PathBuf,
    /// Ports of 127.0.0.1, one for each address that the site listens at, in the order of those.
    pub ports: Vec<u16>,
    /// Each of these is read instead of every directive of its name, and at the end where there is none.
    pub instead: Vec<Directive>,
}

impl Shadow {
    /// Each address of the site with the one that stands for it.
    pub fn addresses<'a>(&'a self, listen: &'a [Listen]) -> impl Iterator<Item = (&'a Listen, SocketAddr)> {
        listen.iter().zip(self.ports.iter().map(|port| (Ipv4Addr::LOCALHOST, *port).into()))
    }
}

impl Config {
    /// A configuration before the defaults of the table; none of these values survives them.
    pub fn empty(server_root: PathBuf, facts: &Facts) -> Config {
        Config {
            server_root,
            hosts: vec![Host::default()],
            sections: vec![Section::default()],
            facts: facts.clone(),
            perl: PerlSwitches { generation: facts.generation(), ..Default::default() },
            ..Config::default()
        }
    }

    /// Whether TLS is to be spoken for a host; what must be known before its certificate is looked for.
    pub fn wants_tls(&self, host: &Host) -> bool {
        let https = self.https.iter().map(|(listen, _)| listen);
        let listens = https.clone().any(|listen| host.addresses.is_empty() || host.may_be_at(listen));
        host.tls.is_on(listens)
    }

    /// What is worth a line where this host answers: a level, and those of single modules.
    pub fn levels<'a>(&'a self, host: Option<&'a Host>) -> (LogLevel, &'a [(String, LogLevel)]) {
        let host = host.or(self.hosts.first());
        let level = host.and_then(|host| host.log_level).unwrap_or(self.log_level);
        let own = host.and_then(|host| host.module_levels.as_deref());
        (level, own.or_else(|| self.hosts.first()?.module_levels.as_deref()).unwrap_or_default())
    }

    /// The same for one of our modules.
    pub fn level_of(&self, host: Option<&Host>, module: &str) -> LogLevel {
        let (level, modules) = self.levels(host);
        modules.iter().find(|(known, _)| known == module).map_or(level, |(_, level)| *level)
    }
}
