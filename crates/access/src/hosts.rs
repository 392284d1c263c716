//! Evaluation of `Order`, `Allow` and `Deny`. `None`: the result depends on a host name that is not known yet.

use super::{ClientName, RequestFacts};
use config::access::{AccessOrigin, HostRules, Limited, Methods, Order};

/// Whether the client's address is permitted.
pub fn permits(rules: &HostRules, facts: &RequestFacts<'_>) -> Option<bool> {
    let order = rules.orders.iter().rev().find(|order| order.methods.has(facts.methods));
    let (allowed, denied) = (any(&rules.allow, facts), any(&rules.deny, facts));
    let not_denied = denied.map(|denied| !denied);
    match order.map(|order| order.what).unwrap_or_default() {
        Order::DenyAllow => either(allowed, not_denied),
        Order::AllowDeny => both(allowed, not_denied),
    }
}

/// Whether a line for this method contains a host name.
pub fn has_host_names(rules: &HostRules, methods: Methods) -> bool {
    let mut lines = rules.allow.iter().chain(&rules.deny);
    lines.any(|line| line.methods.has(methods) && matches!(line.what, AccessOrigin::Name(_)))
}

fn any(lines: &[Limited<AccessOrigin>], facts: &RequestFacts<'_>) -> Option<bool> {
    let lines = lines.iter().filter(|line| line.methods.has(facts.methods));
    lines.map(|line| fits(&line.what, facts)).fold(Some(false), either)
}

fn fits(origin: &AccessOrigin, facts: &RequestFacts<'_>) -> Option<bool> {
    match origin {
        AccessOrigin::All => Some(true),
        AccessOrigin::Network(network) => Some(network.contains(facts.client)),
        AccessOrigin::Env(name) => Some((facts.env)(name)),
        AccessOrigin::NoEnv(name) => Some(!(facts.env)(name)),
        AccessOrigin::Name(domain) => is_in_domain(facts.name, domain),
    }
}

/// Whether a name is in a domain: `example.com` includes the host itself, `.example.com` does not. `None`: the name is
/// not known yet.
pub fn is_in_domain(name: ClientName<'_>, domain: &str) -> Option<bool> {
    let name = match name {
        ClientName::NotAsked => return None,
        ClientName::Nameless => return Some(false),
        ClientName::Is(name) => name.trim_end_matches('.').to_ascii_lowercase(),
    };
    let before = name.strip_suffix(domain);
    Some(before.is_some_and(|before| before.is_empty() || domain.starts_with('.') || before.ends_with('.')))
}

fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
