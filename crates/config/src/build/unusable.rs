//! Warnings about hosts that no request reaches, and places that every request is refused at.

use crate::draft::Draft;
use crate::model::access::Require;
use crate::model::config::Config;
use crate::model::context::{Scope, rest_below};
use crate::model::host::{Host, HostAddress};
use crate::model::settings::Section;
use crate::syntax::tree::ConfigError;

/// Adds the warnings.
pub(super) fn check(draft: &mut Draft) {
    let without_listener: Vec<ConfigError> =
        draft.config.hosts.iter().skip(1).filter_map(|host| not_listened(&draft.config, host)).collect();
    let without_users = without_users(&draft.config);
    draft.config.warnings.extend(without_listener.into_iter().chain(without_users));
}

/// A virtual host at whose addresses nothing listens. Without any `Listen` there is an error already.
fn not_listened(config: &Config, host: &Host) -> Option<ConfigError> {
    let is_reached = config.listen.is_empty() || config.listen.iter().any(|listen| host.may_be_at(listen));
    if is_reached || host.addresses.is_empty() {
        return None;
    }
    let addresses: Vec<String> = host.addresses.iter().map(shown).collect();
    let port = host.addresses.iter().find_map(|address| address.port);
    let advice = port.map_or_else(
        || "correct the address".to_owned(),
        |port| format!("write Listen {port}, or correct the address"),
    );
    let message = format!(
        "VirtualHost {}: no Listen for this address, so that no request reaches the host; {advice}",
        addresses.join(" ")
    );
    Some(ConfigError::at(&config.sections.get(usize::from(host.base))?.at, message))
}

fn shown(address: &HostAddress) -> String {
    let ip =
        address.ip.map_or_else(|| "*".to_owned(), |ip| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() });
    address.port.map_or_else(|| ip.clone(), |port| format!("{ip}:{port}"))
}

/// Places that require a user although no password can be compared: each request for them is a 500.
fn without_users(config: &Config) -> Vec<ConfigError> {
    let mut warnings = Vec::new();
    for host in &config.hosts {
        let own = std::iter::once(&host.base).chain(&host.containers);
        for number in own {
            let Some(section) = config.sections.get(usize::from(*number)) else { continue };
            if !section.own.access.requires.is_some() && section.own.access.auth_type.is_none() {
                continue;
            }
            let Some(warning) = refused(config, host, *number, section) else { continue };
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

fn refused(config: &Config, host: &Host, number: u16, section: &Section) -> Option<ConfigError> {
    let main = config.hosts.first()?.base;
    let mut applied = vec![main, host.base];
    let outer = host
        .containers
        .iter()
        .filter(|outer| config.sections.get(usize::from(**outer)).is_some_and(|outer| may_hold_beside(section, outer)));
    applied.extend(outer);
    applied.push(number);
    // A .htaccess file may have the AuthUserFile.
    let may_have_htaccess = |number: &u16| {
        let own = config.sections.get(usize::from(*number)).map(|section| &section.own);
        own.and_then(|own| own.allow_override).is_some_and(|allowed| !allowed.is_none())
    };
    if matches!(section.scope, Scope::Directory(_)) && applied.iter().any(may_have_htaccess) {
        return None;
    }
    let settings = config.settings(&applied, false);
    let access = &settings.access;
    let user_required = access.requires.iter().any(|line| needs_user(&line.what));
    if !user_required
        || !(access.is_basic() || access.is_digest())
        || access.has_users()
        || settings.needs_perl_for_users()
        || access.is_basic() && settings.fcgid.guards.authenticator.is_some()
    {
        return None;
    }
    let kind = access.auth_type.as_deref().unwrap_or_default();
    let message = format!(
        "AuthType {kind} without an AuthUserFile: passwords cannot be compared, and requests are answered 500; \
         write AuthUserFile, another AuthBasicProvider, or a PerlAuthenHandler"
    );
    Some(ConfigError::at(&section.at, message))
}

/// Whether a `Require` is about the client's user.
pub(super) fn needs_user(what: &Require) -> bool {
    match what {
        Require::ValidUser | Require::User(_) | Require::Group(_) => true,
        Require::Lines(lines) => lines.iter().any(|line| needs_user(&line.what)),
        what => what.parts().iter().any(needs_user),
    }
}

/// Whether the settings of `outer` may hold for a request of `section`, too. Of patterns that is not known.
fn may_hold_beside(section: &Section, outer: &Section) -> bool {
    match (&outer.scope, &section.scope) {
        (Scope::Directory(outer), Scope::Directory(inner)) => inner.starts_with(outer),
        (Scope::Location(outer), Scope::Location(inner)) => rest_below(outer, inner).is_some(),
        // A place may lie in any folder, and a folder in any place.
        _ => true,
    }
}
