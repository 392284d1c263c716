//! Checks of the reverse and the forward proxy when all sections are read.

use std::net::IpAddr;
use std::sync::Arc;

use super::unusable::needs_user;
use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::context::{Scope, rest_below};
use crate::model::perl::phases::Phase;
use crate::model::proxy::forward::{ProxyRemote, RemoteFrom};
use crate::model::proxy::{BackendAddress, BackendUrl, PassFrom};
use crate::model::server::Listen;
use crate::model::settings::Section;
use crate::syntax::tree::{At, ConfigError};

/// Warns of an open forward proxy, and reports Perl filters of backends' responses.
pub(super) fn check(draft: &mut Draft) {
    let config = &draft.config;
    let warnings: Vec<ConfigError> = open_proxies(config).into_iter().chain(proxy_passwords(config)).collect();
    let errors: Vec<ConfigError> = filtered_passes(config).into_iter().chain(own_remotes(config)).collect();
    draft.config.warnings.extend(warnings);
    draft.errors.extend(errors);
}

/// Settings of hosts that depend on those of the main server: `ProxyPassInherit`, and for checks of balancers'
/// members `ProxySourceAddress`.
pub(super) fn inherit(config: &mut Config) {
    let main = config.hosts.first().and_then(|main| main.inherits_passes);
    for host in config.hosts.iter().skip(1) {
        if host.inherits_passes.or(main) == Some(false)
            && let Some(section) = config.sections.get_mut(usize::from(host.base))
        {
            section.own.proxy.passes.alone = true;
        }
    }
    let base = |host: u16| config.hosts.get(usize::from(host)).map(|host| usize::from(host.base));
    let source = |host: u16| config.sections.get(base(host)?)?.own.proxy.source;
    let sources: Vec<_> = config.balancers.iter().map(|one| source(one.host).or_else(|| source(0))).collect();
    for (balancer, source) in config.balancers.iter_mut().zip(sources) {
        for member in balancer.members.iter_mut().filter(|_| source.is_some()) {
            Arc::make_mut(&mut member.parameters).source = source;
        }
    }
}

/// A warning for each `ProxyRequests On` without a `<Proxy>` section that could restrict it.
fn open_proxies(config: &Config) -> Vec<ConfigError> {
    if config.sections.iter().any(|section| matches!(section.scope, Scope::Backend(_))) {
        return Vec::new();
    }
    let forward = config.sections.iter().map(|section| &section.own.proxy.forward).filter(|forward| forward.is_on());
    let message = "ProxyRequests: every client can send requests to any server through this one; write \
                   <Proxy \"*\"> with Require ip and the addresses of its users";
    forward.filter_map(|forward| Some(ConfigError::at(forward.at.as_ref()?, message))).collect()
}

/// A warning for each `<Proxy>` beside `ProxyRequests On` that requires a user whom a Perl handler authenticates.
fn proxy_passwords(config: &Config) -> Vec<ConfigError> {
    if !config.sections.iter().any(|section| section.own.proxy.forward.is_on()) {
        return Vec::new();
    }
    let has_user = |section: &&Section| {
        let lines = section.own.access.requires.lines();
        let asks_perl = [Phase::Authen, Phase::Authz].iter().any(|phase| !section.own.phases.of(*phase).is_empty());
        asks_perl && matches!(section.scope, Scope::Backend(_)) && lines.iter().any(|line| needs_user(&line.what))
    };
    let message = "PerlAuthenHandler: handlers do not check passwords of clients of a forward proxy, so that requests which \
                   need a user here are answered 403; use AuthBasicProvider or Require ip";
    config.sections.iter().filter(has_user).map(|section| ConfigError::at(&section.at, message)).collect()
}

/// An error for each `ProxyRemote` that leads to this server itself: each request would come back without end.
fn own_remotes(config: &Config) -> Vec<ConfigError> {
    let remotes = config.sections.iter().flat_map(|section| section.own.proxy.forward.remotes.iter());
    let own = remotes.filter(|remote| is_own(config, &remote.to));
    let message = |remote: &ProxyRemote| {
        let name = if matches!(remote.from, RemoteFrom::Match(_)) { "ProxyRemoteMatch" } else { "ProxyRemote" };
        format!("{name}: this server itself listens on {}; write the address of another proxy", remote.to.authority)
    };
    own.map(|remote| ConfigError::at(&remote.at, message(remote))).collect()
}

/// Whether a `Listen` has this address. Names other than localhost are not looked up.
fn is_own(config: &Config, url: &BackendUrl) -> bool {
    let BackendAddress::Tcp(host, port) = &url.address else { return false };
    let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
    let is_at = |own: IpAddr| match address {
        Some(address) => address == own || address.is_unspecified() || own.is_unspecified() && address.is_loopback(),
        None => host.trim_end_matches('.') == "localhost" && (own.is_unspecified() || own.is_loopback()),
    };
    let listens = config.listen.iter().filter_map(Listen::tcp);
    listens.filter(|own| own.port() == *port).any(|own| is_at(own.ip().to_canonical()))
}

/// An error for each `ProxyPass` to paths with `PerlOutputFilterHandler`: Perl filters run in workers, through which
/// responses of backends do not pass.
fn filtered_passes(config: &Config) -> Vec<ConfigError> {
    if config.sections.iter().all(|section| section.own.perl_filters.output.is_empty()) {
        return Vec::new();
    }
    let hosts = 0..u16::try_from(config.hosts.len()).unwrap_or(u16::MAX);
    let mut found: Vec<(At, String)> = Vec::new();
    for host in hosts {
        for path in probes(config, host) {
            let rules = config.settings(&config.sections_without_file(host, &path), false).proxy;
            let Some(to) = rules.backend(&path, &path) else { continue };
            let sections = config.sections_of_backend(host, &path, None, &to.url.to_string());
            let is_filtered = !config.settings(&sections, false).perl_filters.output.is_empty();
            if is_filtered && !found.iter().any(|(at, _)| *at == to.at) {
                found.push((to.at, path));
            }
        }
    }
    let message = |path: &str| {
        format!(
            "ProxyPass: {path} has PerlOutputFilterHandler, which filters responses of this server's programs and not those \
             of backends; write SetOutputFilter SUBSTITUTE (docs/operating/filters.md), or exclude the path with `ProxyPass {path} !`"
        )
    };
    found.into_iter().map(|(at, path)| ConfigError::at(&at, message(&path))).collect()
}

/// Paths of a host that may lead to a backend: those of its lines, and of its sections below them.
fn probes(config: &Config, host: u16) -> Vec<String> {
    let containers = config.hosts.get(usize::from(host)).map_or(&[][..], |host| &host.containers);
    let own = config.sections_of_host(host).into_iter().chain(containers.iter().copied());
    let sections: Vec<_> = own.filter_map(|section| config.sections.get(usize::from(section))).collect();
    let passes =
        sections.iter().flat_map(|section| section.own.proxy.passes.lines.iter().chain(&section.own.proxy.of_place));
    let prefix = |from: &PassFrom| match from {
        PassFrom::Prefix(path) => Some(path.clone()),
        PassFrom::Match(_) => None,
    };
    let prefixes: Vec<String> = passes.filter(|pass| pass.to.is_some()).filter_map(|pass| prefix(&pass.from)).collect();
    let below = sections.iter().filter_map(|section| match &section.scope {
        Scope::Location(path) if !section.own.perl_filters.output.is_empty() => Some(path.clone()),
        _ => None,
    });
    let below: Vec<String> =
        below.filter(|path| prefixes.iter().any(|prefix| rest_below(prefix, path).is_some())).collect();
    [prefixes, below].concat()
}
