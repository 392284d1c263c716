//! Virtual hosts. A host is chosen as in httpd: first by address, then by name.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::clients::{KeepAlive, ReadTimeouts};
use crate::model::protocols::Protocols;
use crate::model::remote_ip::RemoteIp;
use crate::model::response;
use crate::model::response::lookup::user_dir::{UserDir, UserFolders};
use crate::model::response::lookup::virtual_folders::VirtualFolders;
use crate::model::server::Listen;
use crate::model::strictness::Strictness;
use crate::model::tls::Tls;
use crate::syntax::pattern::Pattern;
use crate::syntax::tree::At;
use base::log::LogLevel;

/// A virtual host, or the main server.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// The addresses of `<VirtualHost …>`; empty for the main server.
    pub addresses: Vec<HostAddress>,
    /// `ServerName`, without port.
    pub server_name: Option<String>,
    /// Number of hosts before it with the same name.
    pub namesakes: u32,
    /// The port in `ServerName`.
    pub server_port: Option<u16>,
    /// `ServerAlias`, `*` and `?` allowed.
    pub server_aliases: Vec<String>,
    /// `ServerAdmin`
    pub server_admin: Option<String>,
    /// `DocumentRoot`
    pub document_root: PathBuf,
    /// `VirtualDocumentRoot`, `VirtualScriptAlias`
    pub virtual_folders: VirtualFolders,
    /// `Alias` and `ScriptAlias`, in the order in which they are tried.
    pub aliases: Vec<Alias>,
    /// `UserDir`
    pub user_dir: UserDir,
    /// The folders of `user_dir`, where each request chooses.
    pub user_folders: Option<UserFolders>,
    /// `AccessFileName`; empty: the main server's.
    pub access_file_names: Vec<String>,
    /// `Redirect` outside of containers, in the order in which they are tried.
    pub redirects: Vec<response::Redirect>,
    /// Rewrite settings outside of containers.
    pub rewrite: response::rewrite::Rewrite,
    /// `RewriteMap`
    pub maps: response::rewrite::Maps,
    /// `RequestReadTimeout`
    pub read_timeouts: ReadTimeouts,
    /// `Timeout`; `None`: the main server's.
    pub timeout: Option<Duration>,
    /// `KeepAlive`, `KeepAliveTimeout`, `MaxKeepAliveRequests`
    pub keep_alive: KeepAlive,
    /// `StrictHostCheck`, `HttpProtocolOptions`, `MergeSlashes`, `AllowEncodedSlashes`, `SSLStrictSNIVHostCheck`.
    pub strictness: Strictness,
    /// `ErrorLog`: index into `Config::error_logs`; `None`: the main server's.
    pub error_log: Option<usize>,
    /// `LogLevel`; `None`: the main server's.
    pub log_level: Option<LogLevel>,
    /// `LogLevel module:level`; `None`: the main server's.
    pub module_levels: Option<Vec<(String, LogLevel)>>,
    /// `CustomLog` and `TransferLog`.
    pub access_logs: Vec<AccessLog>,
    /// `BalancerInherit`; `None`: the main server's.
    pub inherits_balancers: Option<bool>,
    /// `ProxyPassInherit`; `None`: the main server's.
    pub inherits_passes: Option<bool>,
    /// `RemoteIP…`
    pub remote_ip: RemoteIp,
    /// Index of the section with settings outside of containers; merged directly after the main server's.
    pub base: u16,
    /// Containers of this host in merge order: Directory, Files, Location; in each the main server's first.
    pub containers: Vec<u16>,
    /// `SSL…`, except the directives for backends.
    pub tls: Tls,
    /// The managed domain of the host's names: index into `ManagedCertificates::domains`.
    pub managed: Option<u16>,
    /// `Protocols`
    pub protocols: Protocols,
    /// Positions of the host's connection handlers.
    pub connections: ConnectionHandlers,
}

/// Positions of connection handlers. Their names are in the host's base section.
#[derive(Debug, Clone, Default)]
pub struct ConnectionHandlers {
    /// `PerlPreConnectionHandler`
    pub pre: Option<At>,
    /// `PerlProcessConnectionHandler`: connections are passed to workers.
    pub process: Option<At>,
}

impl ConnectionHandlers {
    /// Takes missing values from the main server.
    pub fn inherit(&mut self, main: &ConnectionHandlers) {
        for (own, main) in [(&mut self.pre, &main.pre), (&mut self.process, &main.process)] {
            if own.is_none() {
                own.clone_from(main);
            }
        }
    }
}

impl Host {
    /// Whether the host's error log differs from the main server's.
    pub fn logs_errors_itself(&self) -> bool {
        self.error_log.is_some() || self.log_level.is_some() || self.module_levels.is_some()
    }
}

/// An address in `<VirtualHost>`; `None` is `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostAddress {
    /// The address that the client connected to.
    pub ip: Option<std::net::IpAddr>,
    /// The port that the client connected to.
    pub port: Option<u16>,
}

/// `Alias /from /to`
#[derive(Debug, Clone)]
pub struct Alias {
    /// Paths to which the alias applies.
    pub from: AliasFrom,
    /// Path of the file or folder.
    pub to: PathBuf,
    /// `ScriptAlias`: files there are CGI scripts, regardless of other settings.
    pub script: bool,
}

/// Paths to which an alias applies.
#[derive(Debug, Clone)]
pub enum AliasFrom {
    /// A prefix of the path that ends at a slash or at the end of a segment.
    Prefix(String),
    /// `AliasMatch`: groups of the expression are inserted in the file path.
    Match(Pattern),
}

/// `CustomLog target format [env=…]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    /// Index into `Config::logs`.
    pub log: usize,
    /// The format string; nicknames are replaced by their formats.
    pub format: String,
    /// Requests that are logged; `None`: all.
    pub condition: Option<response::setenv::EnvCondition>,
}

/// IPv4 form of a mapped address: a listener on `[::]` sees IPv4 clients as `::ffff:10.0.0.1`.
pub fn plain(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

impl Host {
    /// Whether connections accepted by `listen` can belong to this host.
    pub fn may_be_at(&self, listen: &Listen) -> bool {
        let Listen::Tcp(listen) = listen else { return self.addresses.iter().any(|address| address.ip.is_none()) };
        self.addresses.iter().any(|address| {
            let port = address.port.is_none_or(|port| port == listen.port());
            port && (listen.ip().is_unspecified() || address.ip.is_none_or(|ip| ip == plain(listen.ip())))
        })
    }
}
