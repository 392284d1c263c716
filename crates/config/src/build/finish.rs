//! Steps after all directives are read: defaults that depend on others, inheritance, and consistency checks.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::Path;

use wire::control::PoolNumber;

use super::{
    client_certificates, connections, event_pools, handlers, logs, managed, no_code, proxies, satisfy, shadow, unusable,
};
use crate::draft::Draft;
use crate::model::budget::ReforkWhen;
use crate::model::config::Config;
use crate::model::host::Host;
use crate::model::perl::api::PerlGeneration;
use crate::model::pools::DEFAULT;
use crate::model::server::{Listen, PoolSettings};
use crate::model::start_up::warm_up::{WarmUpSource, WarmUpUrl};
use crate::model::start_up::{StartUp, StartUpStep, in_order_of_mod_perl_2};
use crate::syntax::tree::ConfigError;
use crate::table::user_dirs;

impl Draft {
    pub(super) fn complete(&mut self) {
        if let (Some(port), true) = (self.port, self.config.listen.is_empty()) {
            self.config.listen.push(Listen::Tcp((Ipv4Addr::UNSPECIFIED, port).into()));
        }
        logs::finish(self);
        managed::assign(self);
        self.inherit();
        managed::settle_files(self);
        self.settle_aliases();
        user_dirs::finish(self);
        check_remote_ip(self);
        satisfy::check(self);
        self.order_containers();
        self.order_start_up();
        self.config.start_up.sort_by_key(|it| matches!(it.step, StartUpStep::PostConfigRequire(_)));
        check_tls(self);
        managed::finish(self);
        client_certificates::finish(self);
        self.check_balancers();
        connections::finish(self);
        proxies::check(self);
        check_admin(self);
        check_warm_up(self);
        handlers::check(self);
        no_code::check(self);
        unusable::check(self);
        self.adjust_pools();
        event_pools::check(self);
        self.add_program_pool();
        self.count_namesakes();
        if let Some(shadow) = self.config.facts.shadow.clone() {
            shadow::separate(&mut self.config, &shadow);
        }
    }

    pub(super) fn finish(mut self) -> (Config, Vec<ConfigError>) {
        self.complete();
        if self.config.listen.is_empty() && self.errors.is_empty() {
            let file = &self.config.facts.file;
            let begin = if file.is_empty() { String::new() } else { format!("{file}: ") };
            let message = format!("{begin}no Listen; write for instance `Listen 8080`");
            self.errors.push(ConfigError { at: None, message });
        }
        (self.config, self.errors)
    }

    /// Gives aliases of providers their settings, for `.htaccess` files.
    fn settle_aliases(&mut self) {
        let config = &mut self.config;
        let mut aliases = [std::mem::take(&mut config.authn_aliases), std::mem::take(&mut config.authz_aliases)];
        for alias in aliases.iter_mut().flat_map(|aliases| aliases.values_mut()) {
            alias.own = config.settings_of_alias(alias);
        }
        [config.authn_aliases, config.authz_aliases] = aliases;
    }

    /// Virtual hosts inherit missing values from the main server.
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
            host.virtual_folders.inherit(&main.virtual_folders);
            host.user_dir.inherit(&main.user_dir);
            host.rewrite.inherit(&main.rewrite);
            host.tls.inherit(&main.tls);
            host.protocols.inherit(&main.protocols);
            host.connections.inherit(&main.connections);
        }
        proxies::inherit(&mut self.config);
    }

    /// Hosts of one name may be at different addresses.
    fn count_namesakes(&mut self) {
        let mut counts: HashMap<Option<String>, u32> = HashMap::new();
        for host in &mut self.config.hosts {
            let before = counts.entry(host.server_name.clone()).or_default();
            host.namesakes = *before;
            *before += 1;
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

    /// Sorts start-up steps by pool, and within a pool in the order of its API.
    fn order_start_up(&mut self) {
        let mut steps = std::mem::take(&mut self.config.start_up);
        // Modules that define directives are loaded in all pools of hosts that use such directives.
        let defines = |it: &&StartUp| it.pool == DEFAULT && matches!(it.step, StartUpStep::LoadModule(_));
        let defining: Vec<StartUp> = steps.iter().filter(defines).cloned().collect();
        for pool in self.config.host_pools() {
            if !steps.iter().any(|it| it.pool == pool && matches!(it.step, StartUpStep::Own { .. })) {
                continue;
            }
            steps.splice(0..0, defining.iter().map(|it| StartUp { pool, ..it.clone() }));
        }
        steps.sort_by_key(|it| it.pool);
        for own in steps.chunk_by_mut(|one, next| one.pool == next.pool) {
            let pool = own.first().map_or(DEFAULT, |it| it.pool);
            if self.config.perl_of(pool).generation == PerlGeneration::Two {
                in_order_of_mod_perl_2(own);
            }
        }
        self.config.start_up = steps;
    }

    /// Adjusts values as httpd's prefork does. A warning is given only if the directive was written for the pool.
    fn adjust_pools(&mut self) {
        for number in self.config.perl_pool_numbers() {
            let pool = self.config.pool_mut(number);
            if pool.is_event() {
                // The number of workers is fixed: a worker has many requests, and their number says nothing about load.
                let workers = pool.start.min(pool.max_clients);
                (pool.start, pool.max_clients, pool.min_spare, pool.max_spare) = (workers, workers, workers, workers);
                let reforks = pool.refork != ReforkWhen::Off;
                (pool.auto, pool.refork) = (false, ReforkWhen::Off);
                if reforks && let Some(at) = self.positions.get(&(number, "Refork")) {
                    let message = "Refork: has no effect in a pool with an event loop (PsgiMode event), whose workers have \
                                   connections and cannot become a mold; load more code with PerlModule, or remove this line";
                    self.config.warnings.push(ConfigError::at(at, message.to_owned()));
                }
                continue;
            }
            let PoolSettings { start, max_spare, min_spare, max_clients, .. } = *pool;
            pool.max_spare = max_spare.max(min_spare);
            pool.start = start.min(max_clients);
            if max_spare < min_spare {
                let reason = format!("cannot be below MinSpareServers {min_spare}");
                self.adjusted(number, "MaxSpareServers", &reason, min_spare);
            }
            if start > max_clients {
                let reason = format!("cannot be above MaxClients {max_clients}");
                self.adjusted(number, "StartServers", &reason, max_clients);
            }
        }
    }

    fn adjusted(&mut self, pool: PoolNumber, name: &'static str, reason: &str, value: u32) {
        if let Some(at) = self.positions.get(&(pool, name)) {
            let message = format!("{name}: {reason}; {value} is used");
            self.config.warnings.push(ConfigError::at(at, message));
        }
    }
}

/// `RemoteIPProtoHeader` and `RequestIDHeader` require a list of proxies.
fn check_remote_ip(draft: &mut Draft) {
    let is_open = |host: &Host| host.remote_ip.request_id_header.is_some() && host.remote_ip.proxies.is_empty();
    if draft.config.hosts.iter().any(is_open) {
        let message =
            "RequestIDHeader: needs a list of trusted proxies; write RemoteIPInternalProxy or RemoteIPTrustedProxy";
        draft.errors.push(ConfigError { at: None, message: message.to_owned() });
    }
    let is_open = |host: &Host| host.remote_ip.proto_header.is_some() && host.remote_ip.proxies.is_empty();
    if draft.config.hosts.iter().any(is_open) {
        let message =
            "RemoteIPProtoHeader: needs a list of trusted proxies; write RemoteIPInternalProxy or RemoteIPTrustedProxy";
        draft.errors.push(ConfigError { at: None, message: message.to_owned() });
    }
}

/// An AdminListen that other machines can reach requires an AdminToken.
fn check_admin(draft: &mut Draft) {
    let monitor = &draft.config.monitor;
    let open = monitor.listen.iter().filter(|address| monitor.token.is_none() && !address.is_private());
    let advice = "is open to the network without an AdminToken; name a file with a secret, or listen on 127.0.0.1";
    let errors = open.map(|address| ConfigError::at(&address.at, format!("AdminListen: {advice}")));
    let errors: Vec<ConfigError> = errors.collect();
    draft.errors.extend(errors);
}

/// Every host with TLS requires a certificate.
fn check_tls(draft: &mut Draft) {
    for index in 0..draft.config.hosts.len() {
        let used = draft.config.wants_tls(&draft.config.hosts[index]);
        let tls = &mut draft.config.hosts[index].tls;
        let has_certificate = tls.is_managed || !tls.certificates.is_empty();
        tls.used = used && has_certificate;
        if let (Some((at, true)), false) = (&tls.engine, has_certificate) {
            let message = "SSLEngine: no certificate; set SSLCertificateFile and SSLCertificateKeyFile, or name the host in MDomain";
            draft.errors.push(ConfigError::at(at, message.to_owned()));
        }
    }
    for (listen, at) in &draft.config.https {
        let served = draft
            .config
            .hosts
            .iter()
            .any(|host| host.tls.used && (host.addresses.is_empty() || host.may_be_at(listen)));
        if !served {
            let advice = "https, but no host there has a certificate; set SSLCertificateFile";
            draft.errors.push(ConfigError::at(at, format!("Listen: {advice}")));
        }
    }
}

/// Every host that a warm-up URL names must exist.
fn check_warm_up(draft: &mut Draft) {
    for request in &draft.config.warm_up {
        if let WarmUpSource::Url(WarmUpUrl { site: Some((scheme, name)), .. }) = &request.source
            && draft.config.warm_up_site_named(*scheme, name).is_none()
        {
            let message =
                format!("PerlWarmup: no host has the name {name}; correct it, or add a ServerName or ServerAlias");
            draft.errors.push(ConfigError::at(&request.at, message));
        }
    }
}
