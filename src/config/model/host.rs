//! Virtual hosts, and which of them answers: httpd's choice, first by address, then by name.

use std::net::IpAddr;
use std::path::PathBuf;

use crate::config::model::clients::{KeepAlive, ReadTimeouts};
use crate::config::model::protocols::Protocols;
use crate::config::model::remote_ip::RemoteIp;
use crate::config::model::response;
use crate::config::model::server::{Listen, LogLevel};
use crate::config::model::strictness::Strictness;
use crate::config::model::tls::Tls;
use crate::config::syntax::pattern::Pattern;
use crate::config::syntax::tree::At;

/// A virtual host, or the main server.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// The addresses of `<VirtualHost …>`; empty for the main server.
    pub addresses: Vec<HostAddress>,
    /// `ServerName`, without port.
    pub server_name: Option<String>,
    /// The port in `ServerName`.
    pub server_port: Option<u16>,
    /// `ServerAlias`, `*` and `?` allowed.
    pub server_aliases: Vec<String>,
    /// `ServerAdmin`
    pub server_admin: Option<String>,
    /// `DocumentRoot`
    pub document_root: PathBuf,
    /// `Alias` and `ScriptAlias`, in the order they are tried.
    pub aliases: Vec<Alias>,
    /// `AccessFileName`; empty: as the main server.
    pub access_file_names: Vec<String>,
    /// `Redirect` outside of containers, in the order they are tried.
    pub redirects: Vec<response::Redirect>,
    /// `RewriteRule` and its kin outside of containers.
    pub rewrite: response::rewrite::Rewrite,
    /// `RewriteMap`
    pub maps: response::rewrite::Maps,
    /// `RequestReadTimeout`
    pub read_timeouts: ReadTimeouts,
    /// `KeepAlive`, `KeepAliveTimeout`, `MaxKeepAliveRequests`
    pub keep_alive: KeepAlive,
    /// `StrictHostCheck` and its kin.
    pub strictness: Strictness,
    /// `ErrorLog`: index into `Config::error_logs`; `None`: the main server's.
    pub error_log: Option<usize>,
    /// `LogLevel`; `None`: the main server's.
    pub log_level: Option<LogLevel>,
    /// `LogLevel module:level`; `None`: the main server's.
    pub module_levels: Option<Vec<(String, LogLevel)>>,
    /// `CustomLog` and `TransferLog`.
    pub access_logs: Vec<AccessLog>,
    /// `RemoteIP…`
    pub remote_ip: RemoteIp,
    /// Its section of settings that stand outside any container; the first of every merge after the main server's.
    pub base: u16,
    /// Containers that can apply to it, in merge order: Directory, Files, Location; the main server's first in each.
    pub containers: Vec<u16>,
    /// `SSLEngine` and its kin.
    pub tls: Tls,
    /// `Protocols`
    pub protocols: Protocols,
    /// Whose its connections are.
    pub connections: ConnectionHandlers,
}

/// Where handlers of connections are said; who they are, the base section says.
#[derive(Debug, Clone, Default)]
pub struct ConnectionHandlers {
    /// `PerlPreConnectionHandler`
    pub pre: Option<At>,
    /// `PerlProcessConnectionHandler`: connections are handed to workers.
    pub process: Option<At>,
}

impl ConnectionHandlers {
    /// What the host does not say, the main server says for it.
    pub fn inherit(&mut self, main: &ConnectionHandlers) {
        for (own, main) in [(&mut self.pre, &main.pre), (&mut self.process, &main.process)] {
            if own.is_none() {
                own.clone_from(main);
            }
        }
    }
}

impl Host {
    /// Whether its errors are logged otherwise than the main server's.
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
    /// Which paths.
    pub from: AliasFrom,
    /// What replaces it.
    pub to: PathBuf,
    /// `ScriptAlias`: what lies there is a CGI script whatever else says.
    pub script: bool,
}

/// What an alias is for.
#[derive(Debug, Clone)]
pub enum AliasFrom {
    /// A prefix of the path that ends at a segment, or `/`.
    Prefix(String),
    /// `AliasMatch`: the file's path is made from what the expression found.
    Match(Pattern),
}

/// `CustomLog target format [env=…]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    /// Index into `Config::logs`.
    pub log: usize,
    /// The format string, nicknames resolved.
    pub format: String,
    /// Which requests; `None`: all.
    pub condition: Option<response::setenv::Condition>,
}

/// A listener on `[::]` sees IPv4 clients as `::ffff:10.0.0.1`.
pub fn plain(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

impl Host {
    /// Whether connections that come in by `listen` can be its.
    pub fn may_be_at(&self, listen: &Listen) -> bool {
        let Listen::Tcp(listen) = listen else { return self.addresses.iter().any(|address| address.ip.is_none()) };
        self.addresses.iter().any(|address| {
            let port = address.port.is_none_or(|port| port == listen.port());
            port && (listen.ip().is_unspecified() || address.ip.is_none_or(|ip| ip == plain(listen.ip())))
        })
    }
}
