//! Evaluation of `Require` and of sections of it, as in httpd's mod_auth and, since 2.4, mod_authz_core.

use super::hosts::is_in_domain;
use super::{ClientName, RequestFacts};
use config::access::{LdapRequirement, NameKind, Require, Requirement};

/// Three-valued as in mod_authz_core, and open while a fact is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementAnswer {
    /// The requirement is met.
    Granted,
    /// The requirement is not met.
    Denied,
    /// The requirement cannot be decided: not met, with `not` either.
    Undecided,
    /// A `not` that did not apply: neither met nor failed.
    Neutral,
    /// The result depends on the client's host name.
    NeedsName,
    /// The result depends on an answer to an inquiry.
    NeedsAnswer,
    /// The result depends on the user.
    NeedsUser,
}

/// A question about a request whose answer takes time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessInquiry {
    /// Whether the client has an address of one of these names.
    Forward(Vec<String>),
    /// Whether the directory's entry of the user, or the directory, meets a requirement with these words.
    Directory(LdapRequirement, Vec<String>),
    /// Whether the statement of `AuthzDBDQuery` can be executed for the user.
    Statement,
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
        Require::Database(_) | Require::Statement | Require::Other => true,
        Require::Computed(of, _) => *of != NameKind::Host,
        Require::FileOwner(_) | Require::FileGroup(_) => true,
        Require::Ldap(kind, _) => *kind != LdapRequirement::Search,
        Require::Expr(expr) => expr.wants_user(),
        Require::Lines(lines) => lines.iter().any(|line| is_about_users(&line.what)),
        what => what.parts().iter().any(is_about_users),
    }
}

/// Whether the requirement, or a part of it, needs a host name.
pub fn is_about_names(what: &Require) -> bool {
    match what {
        Require::Host(_) | Require::Computed(NameKind::Host, _) => true,
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
        Require::Host(domains) => host(facts, domains),
        Require::ValidUser => user(facts, |_| true),
        Require::User(names) => user(facts, |user| names.contains(&user.name)),
        Require::Database(it) => {
            user(facts, |user| (facts.groups)(it).is_some_and(|names| user.is_in_one_of(&it.lookup, &names)))
        }
        Require::Group(groups) => group(facts, groups),
        // The words of a user or group are not computed before the user is known, whom they may name.
        Require::Computed(NameKind::Host, words) => {
            let names = words.of(facts.text).iter().map(|name| name.to_ascii_lowercase()).collect::<Vec<_>>();
            host(facts, &names)
        }
        Require::Computed(..) if facts.user.is_none() => RequirementAnswer::NeedsUser,
        Require::Computed(NameKind::User, words) => {
            let names = words.of(facts.text);
            user(facts, |user| names.contains(&user.name))
        }
        Require::Computed(NameKind::Group, words) => group(facts, &words.of(facts.text)),
        Require::ForwardDns(words) => learned(facts, AccessInquiry::Forward(words.of(facts.text))),
        Require::FileOwner(_) | Require::FileGroup(_) if facts.user.is_none() => RequirementAnswer::NeedsUser,
        Require::FileOwner(owner) => {
            let owner = (facts.text)(owner);
            user(facts, |user| !owner.is_empty() && user.name == owner)
        }
        Require::FileGroup(of) => match (facts.text)(of) {
            none if none.is_empty() => RequirementAnswer::Denied,
            of => group(facts, &[of]),
        },
        Require::Ldap(kind, _) if *kind != LdapRequirement::Search && facts.user.is_none() => {
            RequirementAnswer::NeedsUser
        }
        Require::Ldap(kind, words) => {
            let words = if kind.is_filter() { vec![words.whole(facts.text)] } else { words.of(facts.text) };
            learned(facts, AccessInquiry::Directory(*kind, words))
        }
        Require::Statement if facts.user.is_none() => RequirementAnswer::NeedsUser,
        Require::Statement => learned(facts, AccessInquiry::Statement),
        Require::Provider(provider) => (facts.provider)(provider),
        Require::Other => user(facts, |_| false),
        Require::Not(part) => match evaluate(part, facts) {
            RequirementAnswer::Granted => RequirementAnswer::Denied,
            RequirementAnswer::Denied | RequirementAnswer::Neutral | RequirementAnswer::NeedsUser => {
                RequirementAnswer::Neutral
            }
            undecided => undecided,
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

fn host(facts: &RequestFacts<'_>, domains: &[String]) -> RequirementAnswer {
    match facts.name {
        ClientName::NotAsked => RequirementAnswer::NeedsName,
        name => granted_if(domains.iter().any(|domain| is_in_domain(name, domain) == Some(true))),
    }
}

fn group(facts: &RequestFacts<'_>, groups: &[String]) -> RequirementAnswer {
    match facts.user {
        Some(user) if user.records.groups_unread.is_some() => RequirementAnswer::Undecided,
        _ => user(facts, |user| groups.iter().any(|group| user.groups.contains(group))),
    }
}

fn learned(facts: &RequestFacts<'_>, inquiry: AccessInquiry) -> RequirementAnswer {
    (facts.learned)(&inquiry).map_or(RequirementAnswer::NeedsAnswer, granted_if)
}

fn any(a: RequirementAnswer, b: RequirementAnswer) -> RequirementAnswer {
    first_of(
        [
            RequirementAnswer::Granted,
            RequirementAnswer::NeedsName,
            RequirementAnswer::NeedsAnswer,
            RequirementAnswer::NeedsUser,
            RequirementAnswer::Undecided,
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
            RequirementAnswer::Undecided,
            RequirementAnswer::NeedsName,
            RequirementAnswer::NeedsAnswer,
            RequirementAnswer::NeedsUser,
            RequirementAnswer::Granted,
        ],
        a,
        b,
    )
}

fn first_of<const COUNT: usize>(
    order: [RequirementAnswer; COUNT],
    a: RequirementAnswer,
    b: RequirementAnswer,
) -> RequirementAnswer {
    order.into_iter().find(|answer| *answer == a || *answer == b).unwrap_or(RequirementAnswer::Neutral)
}
