//! Numbers of sections and hosts in the keys of pages, which mean the same only where all of them are the same.

use config::{Config, Host};
use stores::digest;

/// Length of the digest in hex.
const LENGTH: usize = 16;

/// The names of the hosts by their numbers.
pub fn host_names(config: &Config) -> Vec<String> {
    config.hosts.iter().map(|host| name(host).to_owned()).collect()
}

/// A digest of all sections and hosts in their order: servers with another one exchange no pages.
pub fn places(config: &Config) -> String {
    let sections = config.sections.iter().map(|section| {
        let scope = &section.scope;
        format!("{} {:?} {}", scope.name(), section.inside, scope.argument())
    });
    let hosts = config.hosts.iter().map(|host| {
        // Each server may have addresses of its own, unless only the address tells two hosts apart.
        let is_alone = config.hosts.iter().filter(|other| name(other) == name(host)).count() == 1;
        let ports: Vec<_> = host.addresses.iter().map(|address| address.port).collect();
        match is_alone {
            true => format!("{} {ports:?} {} {:?}", name(host), host.base, host.containers),
            false => format!("{} {:?} {} {:?}", name(host), host.addresses, host.base, host.containers),
        }
    });
    let parts: Vec<String> = sections.chain(["hosts".to_owned()]).chain(hosts).collect();
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    let mut digest = digest(&parts);
    digest.truncate(LENGTH);
    digest
}

fn name(host: &Host) -> &str {
    host.server_name.as_deref().unwrap_or_default()
}
