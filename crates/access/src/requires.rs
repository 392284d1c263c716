//! Evaluation of `Require` and of sections of it, as in httpd's mod_auth and, since 2.4, mod_authz_core.

use super::hosts::is_in_domain;
use super::{ClientName, RequestFacts};
use config::access::{Require, Requirement};

/// Three-valued as in mod_authz_core, and open while a fact is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementAnswer {
    /// The requirement is met.
    Granted,
    /// The requirement is not met.
    Denied,
    /// A `not` that did not apply: neither met nor failed.
    Neutral,
    /// The result depends on the client's host name.
    NeedsName,
    /// The result depends on the user.
    NeedsUser,
}

/// Evaluates the lines of a place, of which one must be met. `None`: no line applies to this method.
pub fn answer(lines: &[Requirement], facts: &RequestFacts<'_>) -> Option<RequirementAnswer> {
    let lines = lines.iter().filter(|line| line.methods.has(facts.methods));
    lines.map(|line| evaluate(&line.what, facts)).reduce(any)
}

/// Whether the requirement, or a part of it, needs a user.
pub fn is_about_users(what: &Require) -> bool {
    match what {
        Require::ValidUser | Require::User(_) | Require::Group(_) | Require::Provider(_) => true,
        Require::Database(_) | Require::Other => true,
        Require::Expr(expr) => expr.wants_user(),
        Require::Lines(lines) => lines.iter().any(|line| is_about_users(&line.what)),
        what => what.parts().iter().any(is_about_users),
    }
}

/// Whether the requirement, or a part of it, needs a host name.
pub fn is_about_names(what: &Require) -> bool {
    match what {
        Require::Host(_) => true,
        Require::Lines(lines) => lines.iter().any(|line| is_about_names(&line.what)),
        what => what.parts().iter().any(is_about_names),
    }
}

fn evaluate(what: &Require, facts: &RequestFacts<'_>) -> RequirementAnswer {
    match what {
        Require::All(granted) => granted_if(*granted),
        Require::Ip(networks) => granted_if(networks.iter().any(|network| network.contains(facts.client))),
        Require::Local => granted_if(facts.client.to_canonical().is_loopback() || facts.client == facts.local),
        Require::Env(names) => granted_if(names.iter().any(|name| (facts.env)(name))),
        Require::Expr(expr) => match (facts.expr)(expr) {
            // As in httpd, the client is asked for a user if the expression looks at one.
            false if expr.wants_user() && facts.user.is_none() => RequirementAnswer::NeedsUser,
            holds => granted_if(holds),
        },
        Require::Method(methods) => granted_if(methods.has(facts.methods)),
        Require::Host(_) if facts.name == ClientName::NotAsked => RequirementAnswer::NeedsName,
        Require::Host(domains) => {
            granted_if(domains.iter().any(|domain| is_in_domain(facts.name, domain) == Some(true)))
        }
        Require::ValidUser => user(facts, |_| true),
        Require::User(names) => user(facts, |user| names.contains(&user.name)),
        Require::Group(groups) => user(facts, |user| groups.iter().any(|group| user.groups.contains(group))),
        Require::Database(it) => {
            user(facts, |user| (facts.groups)(it).is_some_and(|names| user.is_in_one_of(&it.lookup, &names)))
        }
        Require::Provider(provider) => (facts.provider)(provider),
        Require::Other => user(facts, |_| false),
        Require::Not(part) => match evaluate(part, facts) {
            RequirementAnswer::Granted => RequirementAnswer::Denied,
            RequirementAnswer::Denied | RequirementAnswer::Neutral | RequirementAnswer::NeedsUser => {
                RequirementAnswer::Neutral
            }
            RequirementAnswer::NeedsName => RequirementAnswer::NeedsName,
        },
        // Lines of a section apply to methods; a section without lines for this method is met.
        Require::Lines(lines) => answer(lines, facts).unwrap_or(RequirementAnswer::Granted),
        Require::Any(parts) => parts.iter().map(|part| evaluate(part, facts)).fold(RequirementAnswer::Neutral, any),
        Require::Every(parts) => parts.iter().map(|part| evaluate(part, facts)).fold(RequirementAnswer::Neutral, every),
        Require::None(parts) => {
            match parts.iter().map(|part| evaluate(part, facts)).fold(RequirementAnswer::Neutral, any) {
                RequirementAnswer::Granted => RequirementAnswer::Denied,
                RequirementAnswer::Denied => RequirementAnswer::Neutral,
                other => other,
            }
        }
    }
}

fn granted_if(met: bool) -> RequirementAnswer {
    if met { RequirementAnswer::Granted } else { RequirementAnswer::Denied }
}

fn user(facts: &RequestFacts<'_>, is_meant: impl FnOnce(&super::User) -> bool) -> RequirementAnswer {
    facts.user.map_or(RequirementAnswer::NeedsUser, |user| granted_if(is_meant(user)))
}

fn any(a: RequirementAnswer, b: RequirementAnswer) -> RequirementAnswer {
    first_of(
        [
            RequirementAnswer::Granted,
            RequirementAnswer::NeedsName,
            RequirementAnswer::NeedsUser,
            RequirementAnswer::Denied,
        ],
        a,
        b,
    )
}

fn every(a: RequirementAnswer, b: RequirementAnswer) -> RequirementAnswer {
    first_of(
        [
            RequirementAnswer::Denied,
            RequirementAnswer::NeedsName,
            RequirementAnswer::NeedsUser,
            RequirementAnswer::Granted,
        ],
        a,
        b,
    )
}

fn first_of(order: [RequirementAnswer; 4], a: RequirementAnswer, b: RequirementAnswer) -> RequirementAnswer {
    order.into_iter().find(|answer| *answer == a || *answer == b).unwrap_or(RequirementAnswer::Neutral)
}
