//! The work of a process that gets certificates.

use anyhow::Context;

use super::CertificateStore;
use config::tls::managed::{AccountBinding, ManagedDomain};
use config::{Config, regular};
use sys::privileges;
use tls::acme::{AcmeJob, Binding, DomainJob};

/// Maximum size of files that directives name, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// `None`: a reload has removed it.
pub fn domain<'a>(config: &'a Config, name: &str) -> Option<&'a ManagedDomain> {
    config.managed.domains.iter().find(|domain| domain.name() == name)
}

/// The work for these domains; `failures` tells how often an attempt for a domain has failed.
pub fn job(config: &Config, names: &[String], failures: impl Fn(&str) -> u32) -> anyhow::Result<AcmeJob> {
    let store = config.certificate_store();
    let store = CertificateStore::open(&store).with_context(|| format!("MDStoreDir {}", store.display()))?;
    let user = privileges::account(config.user.as_deref(), config.group.as_deref())?;
    let trust = config.managed.trust.as_ref().map(|file| {
        let read = regular::read(&file.path, MAX_BYTES).map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned());
        read.with_context(|| format!("MDCACertificateFile {}", file.path.display()))
    });
    let found = names.iter().filter_map(|name| domain(config, name));
    let domains = found.map(|domain| {
        let failures = failures(domain.name());
        let failovers = failures / config.managed.retry_failover.max(1);
        of_domain(domain, &store, [failures, failovers].map(|count| count as usize))
    });
    let proxy = config.managed.proxy.clone();
    Ok(AcmeJob { user, trust: trust.transpose()?, proxy, domains: domains.collect::<anyhow::Result<_>>()? })
}

/// The work for a domain. After a failure another challenge is tried first, and after several another authority.
fn of_domain(domain: &ManagedDomain, store: &CertificateStore, counts: [usize; 2]) -> anyhow::Result<DomainJob> {
    let settings = &domain.settings;
    let [failures, failovers] = counts;
    let turned = |count: usize, of: usize| if of == 0 { 0 } else { count % of };
    let authority = settings.authorities.get(turned(failovers, settings.authorities.len()));
    let authority = authority.context("MDCertificateAuthority: no authority")?.clone();
    let mut challenges = domain.challenges.clone();
    let first = turned(failures, challenges.len());
    challenges.rotate_left(first);
    let account = store.account(&authority).with_context(|| format!("the account with {authority}"))?;
    Ok(DomainJob {
        name: domain.name().to_owned(),
        names: domain.names.clone(),
        authority,
        account,
        contact: settings.contact.clone(),
        binding: binding(settings.account.as_ref())?,
        keys: settings.keys.clone(),
        challenges,
    })
}

fn binding(setting: Option<&AccountBinding>) -> anyhow::Result<Option<Binding>> {
    Ok(match setting {
        None | Some(AccountBinding::None) => None,
        Some(AccountBinding::Key { id, hmac }) => Some(Binding { id: id.clone(), hmac: hmac.clone() }),
        Some(AccountBinding::File(file)) => {
            let name = || format!("MDExternalAccountBinding {}", file.path.display());
            let (_, text) = regular::read(&file.path, MAX_BYTES).with_context(name)?;
            Some(serde_json::from_slice(&text).with_context(name)?)
        }
    })
}
