//! `-S`, `-t -D DUMP_VHOSTS` and `-t -D DUMP_RUN_CFG`: virtual hosts and settings of the server in httpd's format.

use std::fmt::Write;
use std::path::Path;

use nix::unistd::{Group, User};

use base::printable;
use config::{Config, Host, HostAddress, LogTarget};
use master::configuration::expansion;
use toolkit::conf::Conf;
use toolkit::print;

/// Width of the column of addresses in httpd's list.
const ADDRESS: usize = 22;

/// Whether `-D DUMP_VHOSTS` or `-D DUMP_RUN_CFG` is given, for which httpd lists hosts or settings.
pub fn are_dumped(conf: &Conf) -> bool {
    conf.defines("DUMP_VHOSTS") || conf.defines("DUMP_RUN_CFG")
}

/// Prints the virtual hosts, the settings of the main server, or `both`.
pub fn print_list(conf: &Conf, both: bool) -> anyhow::Result<()> {
    let config = expansion::read(&conf.origin()?)?.config;
    let mut text = String::new();
    if both || conf.defines("DUMP_VHOSTS") {
        text.push_str(&virtual_hosts(&config));
    }
    if both || conf.defines("DUMP_RUN_CFG") {
        text.push_str(&settings(&config, conf.defined()));
    }
    print(&text)
}

/// Lists the virtual hosts by address: the default host first, then the hosts that are found by name.
fn virtual_hosts(config: &Config) -> String {
    let mut text = "VirtualHost configuration:\n".to_owned();
    let mut addresses: Vec<HostAddress> = Vec::new();
    for address in config.hosts.iter().skip(1).flat_map(|host| &host.addresses) {
        if !addresses.contains(address) {
            addresses.push(*address);
        }
    }
    // An address with an IP precedes a wildcard, as in the choice of the host.
    addresses.sort_by_key(|address| address.ip.is_none());
    addresses.iter().for_each(|address| at_address(&mut text, config, *address));
    printable::lines(&text)
}

fn at_address(text: &mut String, config: &Config, address: HostAddress) {
    let of_port = address.port.map_or_else(|| "*".to_owned(), |port| port.to_string());
    let shown = match address.ip {
        None => format!("*:{of_port}"),
        Some(ip) if ip.is_ipv6() => format!("[{ip}]:{of_port}"),
        Some(ip) => format!("{ip}:{of_port}"),
    };
    let hosts: Vec<&Host> = config.hosts.iter().skip(1).filter(|host| host.addresses.contains(&address)).collect();
    if let [only] = hosts.as_slice() {
        let _ = writeln!(text, "{shown:ADDRESS$} {}", named(config, only));
        return;
    }
    let _ = writeln!(text, "{shown:ADDRESS$} is a NameVirtualHost");
    if let Some(first) = hosts.first() {
        let _ = writeln!(text, "         default server {}", named(config, first));
    }
    for host in hosts {
        let _ = writeln!(text, "         port {of_port} namevhost {}", named(config, host));
        for alias in &host.server_aliases {
            let kind = if alias.contains(['*', '?']) { "wild alias" } else { "alias" };
            let _ = writeln!(text, "                 {kind} {alias}");
        }
    }
}

/// The name of a host, and the line where it begins.
fn named(config: &Config, host: &Host) -> String {
    let main = config.hosts.first().and_then(|main| main.server_name.as_deref());
    let name = host.server_name.as_deref().or(main).unwrap_or("localhost");
    match config.sections.get(usize::from(host.base)) {
        Some(section) => format!("{name} ({})", section.at),
        None => name.to_owned(),
    }
}

/// Lists the settings of the main server.
fn settings(config: &Config, defines: &[String]) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name}: {value}");
    };
    row("ServerRoot", &format!("\"{}\"", config.server_root.display()));
    if let Some(main) = config.hosts.first() {
        row("Main DocumentRoot", &document_root(config, &main.document_root));
    }
    row("Main ErrorLog", &error_log(&config.error_log));
    if let Some(path) = &config.pid_file {
        row("PidFile", &format!("\"{}\"", path.display()));
    }
    defines.iter().for_each(|name| row("Define", name));
    if let Some(user) = &config.user {
        row("User", &account(user, User::from_name(user).map(|found| found.map(|user| user.uid.as_raw()))));
    }
    if let Some(group) = &config.group {
        row("Group", &account(group, Group::from_name(group).map(|found| found.map(|group| group.gid.as_raw()))));
    }
    printable::lines(&text)
}

/// A configuration whose hosts all have folders of their own has only the default here, which rarely exists.
fn document_root(config: &Config, root: &Path) -> String {
    let state = match (root.is_dir(), root == config.server_root.join("htdocs")) {
        (true, _) => "",
        (false, true) => " (default, does not exist)",
        (false, false) => " (does not exist)",
    };
    format!("\"{}\"{state}", root.display())
}

/// A user or group; the number is left out if the system does not know the name.
fn account(name: &str, id: nix::Result<Option<u32>>) -> String {
    match id {
        Ok(Some(id)) => format!("name=\"{name}\" id={id}"),
        _ => format!("name=\"{name}\""),
    }
}

fn error_log(target: &LogTarget) -> String {
    match target {
        LogTarget::Standard => "standard error".to_owned(),
        LogTarget::File(path) => format!("\"{}\"", path.display()),
        LogTarget::Pipe(command) => format!("|{command}"),
        LogTarget::Syslog(target) => target.to_string(),
    }
}
