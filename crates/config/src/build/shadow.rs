//! Changes for a second instance of the site, see [`ShadowChanges`].

use std::borrow::Cow;
use std::path::Path;

use crate::model::config::{Config, ShadowChanges};
use crate::model::host::HostAddress;
use crate::model::node::NodeSettings;
use crate::model::server::{HistorySetting, Listen, LogTarget, MonitorSettings};
use crate::syntax::tree::Directive;

/// The tree with the directives of [`ShadowChanges::instead`].
pub fn replaced<'t>(tree: &'t [Directive], shadow: Option<&ShadowChanges>) -> Cow<'t, [Directive]> {
    let instead = shadow.map_or(&[][..], |shadow| &shadow.instead);
    instead.iter().fold(Cow::Borrowed(tree), |tree, directive| {
        let mut tree = tree.into_owned();
        if !replace(&mut tree, directive) {
            tree.push(directive.clone());
        }
        Cow::Owned(tree)
    })
}

/// Replaces all directives of one name. Returns whether there was one.
fn replace(tree: &mut [Directive], by: &Directive) -> bool {
    let mut found = false;
    for directive in tree {
        if directive.section.is_none() && directive.name.eq_ignore_ascii_case(&by.name) {
            directive.args.clone_from(&by.args);
            found = true;
        }
        // Directives of other pools are not measured.
        if directive.name.eq_ignore_ascii_case("WorkerPool") {
            continue;
        }
        found |= directive.section.as_deref_mut().is_some_and(|inner| replace(inner, by));
    }
    found
}

/// Gives the instance its own ports, logs and socket, and removes limits per client, since all its requests have one
/// address.
pub fn separate(config: &mut Config, shadow: &ShadowChanges) {
    config.pid_file = None;
    config.monitor = MonitorSettings { history: HistorySetting::Off, ..MonitorSettings::default() };
    config.node = NodeSettings::default();
    config.control_socket = Some(shadow.folder.join("control.sock"));
    config.error_log = LogTarget::File(shadow.folder.join("error.log"));
    config.error_logs.fill(config.error_log.clone());
    // Access logs are written for the same cost, but their contents are useless.
    config.logs.fill(LogTarget::File(Path::new("/dev/null").to_owned()));
    config.clients.connections_per_client = 0;
    // Messages, limits and responses of the instance are not those of the site.
    config.broadcast_store = None;
    (config.stores.limits, config.stores.cache) = (None, None);
    config.managed.domains.iter_mut().for_each(|domain| domain.is_renewed = false);
    config.sections.iter_mut().for_each(|section| section.own.scheduling.speed = None);
    move_hosts(config, shadow);
    let moved = |old: &Listen| shadow.addresses(&config.listen).find(|(listen, _)| *listen == old);
    let https = config.https.iter().filter_map(|(old, at)| Some((Listen::Tcp(moved(old)?.1), at.clone()))).collect();
    config.https = https;
    config.listen = shadow.addresses(&config.listen).map(|(_, address)| Listen::Tcp(address)).collect();
}

/// Replaces the addresses of hosts by the ports that substitute them.
fn move_hosts(config: &mut Config, shadow: &ShadowChanges) {
    for host in config.hosts.iter_mut().skip(1) {
        let its = shadow.addresses(&config.listen).filter(|(listen, _)| host.may_be_at(listen));
        let addresses = its.map(|(_, address)| HostAddress { ip: None, port: Some(address.port()) }).collect();
        host.addresses = addresses;
    }
}
