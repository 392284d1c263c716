//! Managed domains: which hosts belong to them, which names they have, and how they can be checked.

use std::collections::{HashMap, HashSet};

use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::host::Host;
use crate::model::server::Listen;
use crate::model::tls::managed::{ChallengeType, ManagedDomain, RenewMode, check_name};
use crate::syntax::tree::ConfigError;

/// Assigns hosts to domains, and names of hosts to the domains. Before hosts inherit certificates of the main server.
pub(super) fn assign(draft: &mut Draft) {
    if draft.config.managed.domains.is_empty() {
        return;
    }
    let known = domains_by_name(draft);
    let config = &mut draft.config;
    let first = usize::from(!config.managed.base_server);
    for host in config.hosts.iter_mut().skip(first) {
        let names = names(host);
        let mut numbers: Vec<u16> = names.iter().filter_map(|name| known.get(name).copied()).collect();
        numbers.dedup();
        let Some(number) = numbers.first().copied() else { continue };
        if let Some(other) = numbers.iter().find(|other| **other != number) {
            let name = |number: u16| config.managed.domains.get(usize::from(number)).map_or("", ManagedDomain::name);
            let message = format!(
                "MDomain {}: the virtual host {} has names of this domain and of {}; use one domain for both, or two hosts",
                name(*other),
                names.join(" "),
                name(number)
            );
            let at = config.managed.domains.get(usize::from(*other)).map(|domain| domain.at.clone());
            draft.errors.push(ConfigError { at, message });
        }
        let Some(domain) = config.managed.domains.get_mut(usize::from(number)) else { continue };
        host.managed = Some(number);
        host.tls.is_managed = host.tls.certificates.is_empty();
        config.warnings.extend(add_names(domain, names));
    }
}

/// Reports names that several domains have.
fn domains_by_name(draft: &mut Draft) -> HashMap<String, u16> {
    let (config, mut known) = (&mut draft.config, HashMap::new());
    for (number, domain) in (0..u16::MAX).zip(&mut config.managed.domains) {
        domain.settings.inherit(&config.managed.defaults);
        for name in &domain.names {
            if known.insert(name.clone(), number).is_some() {
                let message = format!("MDomain: {name} is in another managed domain; remove it from one of them");
                draft.errors.push(ConfigError::at(&domain.at, message));
            }
        }
    }
    known
}

/// Adds the names of a host to its domain, as far as `MDMembers` wants that. Returns warnings.
fn add_names(domain: &mut ManagedDomain, names: Vec<String>) -> Vec<ConfigError> {
    let (good, odd): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| check_name(name).is_ok());
    if domain.settings.adds_names != Some(false) {
        domain.add_names(good.into_iter());
        return odd.iter().map(|name| unfit(domain, name)).collect();
    }
    let missing = good.iter().find(|name| !domain.names.contains(name));
    let message =
        |name: &String| format!("MDomain: {name}, a name of a virtual host, is not in the certificate; add it");
    missing.map(|name| ConfigError::at(&domain.at, message(name))).into_iter().collect()
}

/// `ServerName` and `ServerAlias`, in lower case.
fn names(host: &Host) -> Vec<String> {
    host.server_name.iter().chain(&host.server_aliases).map(|name| name.to_ascii_lowercase()).collect()
}

fn unfit(domain: &ManagedDomain, name: &str) -> ConfigError {
    let why = match name.contains(['*', '?']) {
        true => "names with wildcards need dns-01, which is not supported".to_owned(),
        false => check_name(name).err().unwrap_or_default(),
    };
    ConfigError::at(
        &domain.at,
        format!("MDomain: ServerAlias {name} is not in the certificate of {}: {why}", domain.name()),
    )
}

/// Gives hosts of managed domains no inherited certificates, and those of `MDCertificateFile`.
pub(super) fn settle_files(draft: &mut Draft) {
    let config = &mut draft.config;
    for host in config.hosts.iter_mut().filter(|host| host.tls.is_managed) {
        let domain = host.managed.and_then(|number| config.managed.domains.get(usize::from(number)));
        let Some(settings) = domain.map(|domain| &domain.settings) else { continue };
        host.tls.certificates.clone_from(&settings.certificates);
        host.tls.keys.clone_from(&settings.key_files);
        (host.tls.chain, host.tls.staple) = (None, None);
        host.tls.is_managed = settings.certificates.is_empty();
    }
}

/// Settles which domains get certificates, and how authorities can check them.
pub(super) fn finish(draft: &mut Draft) {
    let config = &mut draft.config;
    let possible = possible_challenges(config);
    let using = config.hosts.iter().filter(|host| host.tls.is_managed && host.tls.used);
    let used: HashSet<u16> = using.filter_map(|host| host.managed).collect();
    let admin = config.hosts.first().and_then(|main| main.server_admin.clone()).filter(|admin| admin.contains('@'));
    for (number, domain) in (0..u16::MAX).zip(&mut config.managed.domains) {
        let settings = &mut domain.settings;
        settings.contact = settings.contact.take().or_else(|| admin.clone());
        let is_wanted = match settings.renew_mode {
            Some(RenewMode::Always) => true,
            Some(RenewMode::Manual) => false,
            Some(RenewMode::Auto) | None => used.contains(&number),
        };
        domain.is_renewed = is_wanted && settings.certificates.is_empty();
        domain.challenges = settings.challenges.clone().unwrap_or_else(|| possible.clone());
        if domain.is_renewed {
            let (errors, warnings) = mistakes(domain, &possible);
            let place = |why: String| ConfigError::at(&domain.at, format!("MDomain {}: {why}", domain.name()));
            draft.errors.extend(errors.into_iter().map(place));
            config.warnings.extend(warnings.into_iter().map(place));
        }
    }
}

/// Errors, and warnings.
fn mistakes(domain: &ManagedDomain, possible: &[ChallengeType]) -> (Vec<String>, Vec<String>) {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    if domain.settings.agreed != Some(true) {
        let advice = "write `MDCertificateAgreement accepted` if you accept the terms of the certificate authority";
        errors.push(format!("no certificate can be requested; {advice}"));
    }
    if domain.challenges.is_empty() {
        errors.push(
            "no certificate can be got: http-01 needs a plain listener on port 80, tls-alpn-01 a TLS listener on port \
             443; add a Listen, or name the ports that lead there with MDPortMap"
                .to_owned(),
        );
    }
    for challenge in domain.challenges.iter().filter(|challenge| !possible.contains(challenge)) {
        let needs = match challenge {
            ChallengeType::Http01 => "a plain listener for port 80",
            ChallengeType::TlsAlpn01 => "a TLS listener for port 443",
        };
        let name = challenge.name();
        warnings.push(format!("{name} needs {needs}; add a Listen, or name the port with MDPortMap"));
    }
    (errors, warnings)
}

/// The challenges that arrive at listeners, in the order in which they are tried.
fn possible_challenges(config: &Config) -> Vec<ChallengeType> {
    let ports = config.managed.ports;
    let listens = |port: Option<u16>, with_tls: bool| {
        let is_it = |listen: &Listen| {
            let Listen::Tcp(address) = listen else { return false };
            Some(address.port()) == port && config.speaks_tls(Some(*address)) == with_tls
        };
        config.listen.iter().any(is_it)
    };
    let both = [(ChallengeType::TlsAlpn01, ports.https, true), (ChallengeType::Http01, ports.http, false)];
    both.into_iter().filter(|(_, port, with_tls)| listens(*port, *with_tls)).map(|(challenge, ..)| challenge).collect()
}
