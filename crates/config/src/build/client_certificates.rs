//! Which hosts ask clients for a certificate in the TLS handshake. TLS 1.3 asks nobody later: a host asks if any of its
//! places uses certificates.

use crate::draft::Draft;
use crate::model::config::Config;
use crate::model::host::Host;
use crate::model::response::ssl::Ssl;
use crate::model::server::Listen;
use crate::model::tls::client_auth::{AskedCertificate, ClientAuth, ClientVerify, RevocationDepth};
use crate::syntax::tree::ConfigError;

/// Settles how each host asks, and reports settings that contradict each other.
pub(super) fn finish(draft: &mut Draft) {
    let open = open_to_plain_http(&draft.config);
    draft.config.warnings.extend(open);
    for number in 0..draft.config.hosts.len() {
        let config = &draft.config;
        let (certificate, warning) = requested_certificate(config, &config.hosts[number]);
        let error = certificate.and_then(|_| without_lists(&config.hosts[number].tls.clients));
        let more = certificate.and_then(|_| unchecked_lists(&config.hosts[number].tls.clients));
        draft.config.hosts[number].tls.clients.asked = certificate;
        draft.errors.extend(error.filter(|new| !draft.errors.contains(new)));
        for warning in [warning, more].into_iter().flatten() {
            if !draft.config.warnings.contains(&warning) {
                draft.config.warnings.push(warning);
            }
        }
    }
}

/// How the host asks, and a warning if it does so only because of its places.
fn requested_certificate(config: &Config, host: &Host) -> (Option<AskedCertificate>, Option<ConfigError>) {
    if !host.tls.used {
        return (None, None);
    }
    let main = config.hosts.first().map(|main| main.base).unwrap_or_default();
    let own = config.settings(&[main, host.base], false).response.ssl;
    let places = places(config, &[main, host.base], &host.containers);
    let asking = places.iter().find(|number| own_of(config, **number).is_some_and(asks));
    if own.verify() == ClientVerify::None && asking.is_none() {
        return (None, None);
    }
    let depths = places.iter().filter_map(|number| own_of(config, *number)?.depth);
    let depth = depths.chain([own.depth()]).max().unwrap_or(own.depth());
    let warning = asking.filter(|_| own.verify() == ClientVerify::None).and_then(|number| {
        let at = &config.sections.get(usize::from(*number))?.at;
        let message = "SSLVerifyClient: the TLS handshake asks each client of this host for a certificate, because TLS \
                       cannot ask later; this section answers 403 to those without a valid one";
        Some(ConfigError::at(at, message.to_owned()))
    });
    (Some(AskedCertificate { enforced: own.verify(), depth }), warning)
}

/// A warning for each section that needs a certificate over TLS, and none over plain HTTP.
fn open_to_plain_http(config: &Config) -> Vec<ConfigError> {
    let mut open: Vec<u16> = Vec::new();
    for listen in &config.listen {
        let Listen::Tcp(address) = listen else { continue };
        if config.speaks_tls(Some(*address)) {
            continue;
        }
        for host in config.hosts_at(Some(*address)).filter_map(|host| config.hosts.get(usize::from(host))) {
            let is_open = |number: &u16| {
                own_of(config, *number)
                    .is_some_and(|ssl| ssl.verify() == ClientVerify::Require && ssl.required.is_none())
            };
            open.extend(places(config, &[host.base], &host.containers).into_iter().filter(is_open));
        }
    }
    open.sort_unstable();
    open.dedup();
    let message =
        "SSLVerifyClient: this section is also sent over plain HTTP, where nobody has a certificate; add SSLRequireSSL";
    let at = open.into_iter().filter_map(|number| config.sections.get(usize::from(number))).map(|section| &section.at);
    at.map(|at| ConfigError::at(at, message)).collect()
}

fn asks(ssl: &Ssl) -> bool {
    ssl.verify() != ClientVerify::None
}

fn own_of(config: &Config, section: u16) -> Option<&Ssl> {
    Some(&config.sections.get(usize::from(section))?.own.response.ssl)
}

/// The sections of a host's places: its containers, and all `<If>` in them and in `bases`.
fn places(config: &Config, bases: &[u16], containers: &[u16]) -> Vec<u16> {
    let branches = |number: &u16| config.sections.get(usize::from(*number)).map(|it| it.branches.as_slice());
    let mut found = containers.to_vec();
    found.extend(bases.iter().filter_map(branches).flatten());
    let mut next = 0;
    while let Some(number) = found.get(next).copied() {
        found.extend_from_slice(branches(&number).unwrap_or_default());
        next += 1;
    }
    found
}

/// An error for a check without lists, which would refuse everybody.
fn without_lists(clients: &ClientAuth) -> Option<ConfigError> {
    let (at, check) = clients.check.as_ref()?;
    let is_without = check.depth != RevocationDepth::None && clients.of_revoked().next().is_none();
    let message =
        "SSLCARevocationCheck: needs a list of revoked certificates; set SSLCARevocationFile or SSLCARevocationPath";
    is_without.then(|| ConfigError::at(at, message.to_owned()))
}

/// A warning for lists that nobody looks at: httpd 2.2 checked them without being asked to.
fn unchecked_lists(clients: &ClientAuth) -> Option<ConfigError> {
    let list = clients.of_revoked().next()?;
    let message =
        format!("{}: is not used without SSLCARevocationCheck; write SSLCARevocationCheck chain", list.directive);
    (clients.revocation_check().depth == RevocationDepth::None).then(|| ConfigError::at(&list.at, message))
}
