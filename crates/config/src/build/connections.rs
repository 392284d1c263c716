//! Hosts whose connections are passed to workers. Such a connection names no host and may use any protocol, so the host
//! needs exclusive addresses, without TLS.

use std::time::Duration;

use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::host::Host;
use crate::model::pools::DEFAULT;
use crate::syntax::tree::{At, ConfigError};

const PROCESS: &str = "PerlProcessConnectionHandler";

/// Reports errors of hosts with a PerlProcessConnectionHandler, and warns of their costs.
pub(super) fn finish(draft: &mut Draft) {
    let config = &draft.config;
    let taken: Vec<(&At, usize)> = processing(config).collect();
    let mut errors: Vec<ConfigError> = config.hosts.iter().filter_map(pre_without_process).collect();
    errors.extend(taken.iter().filter_map(|(at, host)| shares(config, at, *host)));
    errors.extend(taken.iter().filter_map(|(at, host)| uses_tls(config, at, *host)));
    let costs: Vec<ConfigError> = taken.iter().map(|(at, host)| cost(config, at, *host)).collect();
    let is_any = !taken.is_empty();
    draft.config.hands_over_connections = is_any;
    errors.dedup_by(|one, other| one.at == other.at);
    draft.errors.extend(errors);
    // A warning about the main server's directive would otherwise appear for each host.
    for cost in costs {
        if !draft.config.warnings.iter().any(|known| known.at == cost.at) {
            draft.config.warnings.push(cost);
        }
    }
}

fn processing(config: &Config) -> impl Iterator<Item = (&At, usize)> {
    config.hosts.iter().enumerate().filter_map(|(number, host)| Some((host.connections.process.as_ref()?, number)))
}

fn pre_without_process(host: &Host) -> Option<ConfigError> {
    let at = host.connections.pre.as_ref().filter(|_| host.connections.process.is_none())?;
    let message = format!(
        "PerlPreConnectionHandler: has no effect on HTTP connections, which the front handles; use a PerlPostReadRequestHandler and \
         `$r->connection`, or write it into a <VirtualHost> with a {PROCESS}"
    );
    Some(ConfigError::at(at, message))
}

/// Reports another host with one of the addresses.
fn shares(config: &Config, at: &At, number: usize) -> Option<ConfigError> {
    let host = config.hosts.get(number)?;
    let others = config.hosts.iter().enumerate().skip(1).filter(|(other, _)| *other != number);
    let mut others = others.filter(|(_, other)| other.addresses.iter().any(|address| host.addresses.contains(address)));
    let (_, other) = others.next()?;
    let there = config.sections.get(usize::from(other.base)).map(|section| section.at.to_string())?;
    let message = format!(
        "{PROCESS}: the virtual host at {there} has the same address, and connections that do not use HTTP do not name a \
         host; give this host its own Listen and address"
    );
    Some(ConfigError::at(at, message))
}

fn uses_tls(config: &Config, at: &At, number: usize) -> Option<ConfigError> {
    let host = config.hosts.get(number).filter(|host| config.wants_tls(host))?;
    let why =
        host.tls.engine.as_ref().map_or_else(|| "Listen … https".to_owned(), |(at, _)| format!("SSLEngine at {at}"));
    let message = format!(
        "{PROCESS}: connections are passed on unchanged, but {why} turns on TLS; remove it, and let a proxy (stunnel, HAProxy) in \
         front end TLS"
    );
    Some(ConfigError::at(at, message))
}

/// Warns that each open connection occupies a worker.
fn cost(config: &Config, at: &At, number: usize) -> ConfigError {
    let base = config.hosts.get(number).map(|host| host.base).unwrap_or_default();
    let main = config.hosts.first().map(|host| host.base).unwrap_or_default();
    let settings = config.settings(&[main, base], false);
    let workers = config.pool_of(settings.pool).max_clients;
    let pool = match config.more_pools.is_empty() {
        true => String::new(),
        false => format!(" of pool {}", config.pool_name(settings.pool)),
    };
    let limit = match settings.request_timeout {
        Duration::ZERO => "without a limit (RequestTimeout 0)".to_owned(),
        limit => format!("at most {limit:?} (RequestTimeout)"),
    };
    let shared = match settings.pool {
        DEFAULT => "; a <WorkerPool> with PerlPool here reserves workers for the other hosts",
        _ => "",
    };
    let message = format!(
        "{PROCESS}: each open connection occupies one of {workers} workers{pool} until its handler returns, {limit}; further connections wait{shared}"
    );
    ConfigError::at(at, message)
}
