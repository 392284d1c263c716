//! Checks of the reverse and the forward proxy when all sections are read.

use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::context::{Scope, rest_below};
use crate::model::proxy::PassFrom;
use crate::syntax::tree::{At, ConfigError};

/// Warns of an open forward proxy, and reports Perl filters of backends' responses.
pub(super) fn check(draft: &mut Draft) {
    let config = &draft.config;
    let warnings = open_proxies(config);
    let errors = filtered_passes(config);
    draft.config.warnings.extend(warnings);
    draft.errors.extend(errors);
}

/// A warning for each `ProxyRequests On` without a `<Proxy>` section that could restrict it.
fn open_proxies(config: &Config) -> Vec<ConfigError> {
    if config.sections.iter().any(|section| matches!(section.scope, Scope::Backend(_))) {
        return Vec::new();
    }
    let forward = config.sections.iter().map(|section| &section.own.proxy.forward).filter(|forward| forward.is_on());
    let message = "ProxyRequests: every client can send requests to any server through this one: write \
                   <Proxy \"*\"> with Require ip and the addresses of its users";
    forward.filter_map(|forward| Some(ConfigError::at(forward.at.as_ref()?, message))).collect()
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
             of backends: write SetOutputFilter SUBSTITUTE (docs/operating/filters.md), or exclude the path with `ProxyPass {path} !`"
        )
    };
    found.into_iter().map(|(at, path)| ConfigError::at(&at, message(&path))).collect()
}

/// Paths of a host that may lead to a backend: those of its lines, and of its sections below them.
fn probes(config: &Config, host: u16) -> Vec<String> {
    let containers = config.hosts.get(usize::from(host)).map_or(&[][..], |host| &host.containers);
    let own = config.sections_of_host(host).into_iter().chain(containers.iter().copied());
    let sections: Vec<_> = own.filter_map(|section| config.sections.get(usize::from(section))).collect();
    let passes = sections.iter().flat_map(|section| section.own.proxy.passes.iter().chain(&section.own.proxy.of_place));
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
