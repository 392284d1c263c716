//! [`Directive`]s to a [`Config`].

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::access;
use super::context::Rank;
use super::draft::Draft;
use super::identity::Tokens;
use super::overrides::PerlHtaccess;
use super::remote_ip::{self, RemoteIp};
use super::strictness::Strictness;
use super::{
    Clients, Config, ConfigError, Directive, Host, KeepAlive, Limits, Listen, LogLevel, LogTarget, PerlSwitches, Pool,
    ReadTimeouts, Said, Scope, Section, Spooling, Timeouts, logs, protocols, tls,
};

/// What a configuration depends on besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// `-d`; a `ServerRoot` directive takes precedence.
    pub server_root: PathBuf,
    /// The folder that the server was started in: a relative `ServerRoot` is of it.
    pub started_in: PathBuf,
    /// The master's environment, for `PerlPassEnv`.
    pub env: Vec<(String, String)>,
    /// Names of `-D` and `Define` with their values, for `Apache->define`.
    pub defined: Vec<(String, Option<String>)>,
    /// What the configuration's Perl has said, when it was asked.
    pub expanded: Option<Expanded>,
    /// A server runs, and reads its configuration anew.
    pub reload: bool,
    /// Nothing will be served: every handler is looked for now, which a server does when a request needs it.
    pub check: bool,
}

/// What is known after the configuration's Perl has run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Expanded {
    /// Directives that Perl modules define, in lower case.
    pub own: Vec<String>,
}

impl Config {
    /// What the tree means, or everything that is wrong with it. Warnings stand in [`Config::warnings`].
    pub fn build(tree: &[Directive], facts: &Facts) -> Result<Config, Vec<ConfigError>> {
        let (config, errors) = Config::understand(tree, facts);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// What the tree means as far as it can be understood, and everything that is wrong with it.
    pub fn understand(tree: &[Directive], facts: &Facts) -> (Config, Vec<ConfigError>) {
        let mut draft = Draft::of(tree, facts);
        draft.config.perl_access = access::has_perl_handler(tree);
        draft.defaults();
        draft.main_server();
        draft.walk(tree);
        draft.finish()
    }

    /// What the tree means as far as it can be understood: for those who run before it is whole.
    pub fn sketch(tree: &[Directive], facts: &Facts) -> Config {
        let mut draft = Draft::of(tree, facts);
        draft.defaults();
        draft.main_server();
        draft.walk(tree);
        draft.complete();
        draft.config
    }
}

impl Draft {
    fn of(tree: &[Directive], facts: &Facts) -> Draft {
        let mut draft = Draft::new(facts, server_root(tree, facts));
        draft.documents_root = documents_root(tree, facts);
        draft
    }

    fn complete(&mut self) {
        if let (Some(port), true) = (self.port, self.config.listen.is_empty()) {
            self.config.listen.push(Listen::Tcp((Ipv4Addr::UNSPECIFIED, port).into()));
        }
        logs::finish(self);
        self.inherit();
        remote_ip::finish(self);
        self.order_containers();
        tls::finish(self);
        self.checks();
    }

    fn finish(mut self) -> (Config, Vec<ConfigError>) {
        self.complete();
        if self.config.listen.is_empty() && self.errors.is_empty() {
            let message = "there is no Listen: write for instance `Listen 8080`".to_owned();
            self.errors.push(ConfigError { at: None, message });
        }
        (self.config, self.errors)
    }

    /// What a virtual host does not say, the main server says for it.
    fn inherit(&mut self) {
        let Some((main, hosts)) = self.config.hosts.split_first_mut() else { return };
        for host in hosts {
            if host.document_root == Path::new("") {
                host.document_root.clone_from(&main.document_root);
            }
            if host.server_admin.is_none() {
                host.server_admin.clone_from(&main.server_admin);
            }
            host.remote_ip.inherit(&main.remote_ip);
            host.read_timeouts.inherit(&main.read_timeouts);
            host.keep_alive.inherit(&main.keep_alive);
            host.strictness.inherit(&main.strictness);
            host.aliases.extend_from_slice(&main.aliases);
            host.redirects.extend_from_slice(&main.redirects);
            host.tls.inherit(&main.tls);
            host.protocols.inherit(&main.protocols);
        }
    }

    fn order_containers(&mut self) {
        let Some((main, hosts)) = self.containers.split_first_mut() else { return };
        for own in &mut *hosts {
            own.splice(0..0, main.iter().copied());
        }
        for (host, containers) in self.config.hosts.iter_mut().zip(&mut self.containers) {
            containers.sort_by_key(|(rank, _)| *rank);
            host.containers = containers.iter().map(|(_, section)| *section).collect();
        }
    }

    /// httpd's prefork adjusts these, too; it says so only when the directive was written.
    fn checks(&mut self) {
        let Pool { start, max_spare, min_spare, max_clients, .. } = self.config.pool;
        if max_spare < min_spare {
            self.config.pool.max_spare = min_spare;
            self.adjusted("MaxSpareServers", &format!("cannot be below MinSpareServers {min_spare}"), min_spare);
        }
        if start > max_clients {
            self.config.pool.start = max_clients;
            self.adjusted("StartServers", &format!("cannot be above MaxClients {max_clients}"), max_clients);
        }
    }

    fn adjusted(&mut self, name: &'static str, reason: &str, value: u32) {
        if let Some(at) = self.said_at.get(name) {
            let message = format!("{name}: {reason}, taken as {value}");
            self.config.warnings.push(ConfigError::at(at, message));
        }
    }
}

/// As in httpd, `ServerRoot` holds for paths that stand above it, too.
pub fn server_root(tree: &[Directive], facts: &Facts) -> PathBuf {
    named_root(tree).map_or_else(|| facts.server_root.clone(), |root| below(&facts.started_in, root))
}

/// Where relative names of documents start. httpd 1.3 takes them as of the folder that it was started in, httpd 2 as of
/// ServerRoot: a configuration whose ServerRoot is relative itself is written for the former.
fn documents_root(tree: &[Directive], facts: &Facts) -> PathBuf {
    match named_root(tree) {
        Some(root) if Path::new(root).is_relative() => facts.started_in.clone(),
        _ => server_root(tree, facts),
    }
}

fn named_root(tree: &[Directive]) -> Option<&String> {
    let named = tree.iter().rfind(|directive| directive.name.eq_ignore_ascii_case("ServerRoot"));
    named.and_then(|directive| directive.args.first())
}

/// `path`, in `folder` unless it is absolute.
pub(super) fn below(folder: &Path, path: &str) -> PathBuf {
    match path.strip_prefix("./").map_or(path, |inside| inside.trim_start_matches('/')) {
        "" | "." => folder.to_owned(),
        inside => folder.join(inside),
    }
}

/// A configuration before the defaults of the table; none of these values survives them.
pub(super) fn empty(server_root: PathBuf, facts: &Facts) -> Config {
    Config {
        server_root,
        user: None,
        group: None,
        pid_file: None,
        listen: Vec::new(),
        https: Vec::new(),
        http2: protocols::Http2::default(),
        listen_backlog: 0,
        pool: Pool {
            start: 0,
            min_spare: 0,
            max_spare: 0,
            max_clients: 0,
            max_requests: 0..=0,
            queue_length: 0,
            queue_stale: Duration::ZERO,
        },
        timeouts: Timeouts {
            client: Duration::ZERO,
            graceful: Duration::ZERO,
            front: Duration::ZERO,
            start: Duration::ZERO,
        },
        limits: Limits { request_line: 0, fields: 0, field_size: 0 },
        clients: Clients::default(),
        spooling: Spooling::default(),
        perl: PerlSwitches::default(),
        start_up: Vec::new(),
        handlers: Vec::new(),
        error_log: LogTarget::Standard,
        log_level: LogLevel::Warn,
        error_logs: Vec::new(),
        logs: Vec::new(),
        hosts: vec![empty_host()],
        sections: vec![Section { scope: Scope::Host, inside: None, said: Said::default(), rank: Rank::HOST }],
        types: BTreeMap::new(),
        control_socket: None,
        warnings: Vec::new(),
        tokens: Tokens::default(),
        methods: Vec::new(),
        perl_htaccess: PerlHtaccess::Off,
        perl_access: false,
        facts: facts.clone(),
    }
}

pub(super) fn empty_host() -> Host {
    Host {
        addresses: Vec::new(),
        server_name: None,
        server_port: None,
        server_aliases: Vec::new(),
        server_admin: None,
        document_root: PathBuf::new(),
        aliases: Vec::new(),
        access_file_names: Vec::new(),
        redirects: Vec::new(),
        read_timeouts: ReadTimeouts::default(),
        keep_alive: KeepAlive::default(),
        strictness: Strictness::default(),
        error_log: None,
        log_level: None,
        module_levels: None,
        access_logs: Vec::new(),
        remote_ip: RemoteIp::default(),
        base: 0,
        containers: Vec::new(),
        tls: tls::Tls::default(),
        protocols: protocols::Protocols::default(),
    }
}
