//! What a [`Shadow`] has otherwise than the site whose shadow it is.

use std::borrow::Cow;
use std::path::Path;

use crate::config::model::config::{Config, Shadow};
use crate::config::model::host::HostAddress;
use crate::config::model::server::{Listen, LogTarget};
use crate::config::syntax::tree::Directive;

/// The tree with what is read instead.
pub fn replaced<'t>(tree: &'t [Directive], shadow: Option<&Shadow>) -> Cow<'t, [Directive]> {
    let instead = shadow.map_or(&[][..], |shadow| &shadow.instead);
    instead.iter().fold(Cow::Borrowed(tree), |tree, directive| {
        let mut tree = tree.into_owned();
        if !replace(&mut tree, directive) {
            tree.push(directive.clone());
        }
        Cow::Owned(tree)
    })
}

/// Says whether there was one.
fn replace(tree: &mut [Directive], by: &Directive) -> bool {
    let mut found = false;
    for directive in tree {
        if directive.section.is_none() && directive.name.eq_ignore_ascii_case(&by.name) {
            directive.args.clone_from(&by.args);
            found = true;
        }
        // What is said of another pool is not what is measured.
        if directive.name.eq_ignore_ascii_case("WorkerPool") {
            continue;
        }
        found |= directive.section.as_deref_mut().is_some_and(|inner| replace(inner, by));
    }
    found
}

/// Its own ports, logs and socket; and no client is too fast for it, since all its requests come from one address.
pub fn stand_aside(config: &mut Config, shadow: &Shadow) {
    config.pid_file = None;
    config.control_socket = Some(shadow.folder.join("control.sock"));
    config.error_log = LogTarget::File(shadow.folder.join("error.log"));
    config.error_logs.fill(config.error_log.clone());
    // To write them costs what it costs the site; to keep them helps nobody.
    config.logs.fill(LogTarget::File(Path::new("/dev/null").to_owned()));
    config.clients.connections_per_client = 0;
    config.sections.iter_mut().for_each(|section| section.said.scheduling.speed = None);
    move_hosts(config, shadow);
    let moved = |old: &Listen| shadow.addresses(&config.listen).find(|(listen, _)| *listen == old);
    let https = config.https.iter().filter_map(|(old, at)| Some((Listen::Tcp(moved(old)?.1), at.clone()))).collect();
    config.https = https;
    config.listen = shadow.addresses(&config.listen).map(|(_, address)| Listen::Tcp(address)).collect();
}

/// A host answers at the ports that stand for the addresses at which it did.
fn move_hosts(config: &mut Config, shadow: &Shadow) {
    for host in config.hosts.iter_mut().skip(1) {
        let its = shadow.addresses(&config.listen).filter(|(listen, _)| host.may_be_at(listen));
        let addresses = its.map(|(_, address)| HostAddress { ip: None, port: Some(address.port()) }).collect();
        host.addresses = addresses;
    }
}
