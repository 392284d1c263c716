//! The server as a whole: its root folder, addresses, user, host names and modules.

use crate::draft::Draft;
use crate::model::address;
use crate::model::server::Listen;
use crate::syntax::modules;
use crate::table::row::{Effect, HOSTS, MANY, Row, SERVER, number, path, rows, word, words};

pub(super) static ROWS: &[Row] =
    rows![
    "core.c",
    word("ServerRoot", SERVER, "folder", |_, _| Ok(()))
        .effect(Effect::Start)
        .because("`-d`, or the folder of the configuration file"),
    "Start of relative paths, including those on earlier lines of the file.",
    words("Listen", SERVER, "[address:]port|socket-path [http|https]", 1..=2, listen)
        .because("a port that was opened by default is a risk: at least one Listen or Port is required"),
    "An address to listen on: a port (all IPv4 addresses), an address with a port, `[::]:port`, or the path of a unix \
     socket. `https` after the address turns on TLS there. May be repeated.",
    number("Port", SERVER, 1..=65535, |d, port| d.port = u16::try_from(port).ok()).because("use Listen"),
    "Apache 1.3's directive: the port to listen on, on every address, when there is no Listen.",
    number("ListenBacklog", SERVER, 1..=65535, |d, n| d.config.listen_backlog = n as u32)
        .effect(Effect::Start)
        .default(
            "4096",
            "the front accepts at once, so this queue holds a burst and no stale work; the kernel's default limit is \
             4096"
        ),
    "Maximum number of connections that the kernel queues until they are accepted. net.core.somaxconn may lower it.",
    word("User", SERVER, "name|#id", |d, name| set(&mut d.config.user, name))
        .effect(Effect::Start)
        .because("without root the user cannot change"),
    "The user of the front and the Perl processes when root starts the master.",
    word("Group", SERVER, "name|#id", |d, name| set(&mut d.config.group, name))
        .effect(Effect::Start)
        .because("the group of User"),
    "The group of the front and the Perl processes when root starts the master.",
    path("PidFile", SERVER, |d, path| d.config.pid_file = Some(path))
        .effect(Effect::Start)
        .because("the control socket and systemd need none"),
    "Contains the process id of the master, and is locked, while the master runs. A symbolic link is refused. Where \
     root starts the server and others may write to the folder, the file is not written and the error log has a \
     message.",
    path("ControlSocket", SERVER, |d, path| d.config.control_socket = Some(path)).of("cameleer.c")
        .effect(Effect::Start)
        .because("the master chooses a private folder"),
    "The unix socket through which `cameleer status`, `reload`, `stop` and `purge` reach the master.",
    word("ServerName", HOSTS, "name[:port]", server_name).because("the Host header of the request is enough"),
    "The name that selects a virtual host, and the name in links that the server generates.",
    words("ServerAlias", HOSTS, "name…", 1..=MANY, |d, names| {
        d.host().server_aliases.extend_from_slice(names);
        Ok(())
    })
    .because("most hosts have one name"),
    "More names that select a virtual host; `*` and `?` are wildcards.",
    word("ServerAdmin", HOSTS, "address", |d, address| set(&mut d.host().server_admin, address))
        .because("only the site knows its administrator; programs get `[no address given]`"),
    "The mail address that programs get as SERVER_ADMIN. A virtual host inherits it.",
    words("NameVirtualHost", SERVER, "address", 1..=1, |d, _| {
        d.warn("has no effect, as in httpd 2.4; remove it");
        Ok(())
    })
    .because("names select among several virtual hosts on one address without it"),
    "Accepted for old configurations and ignored, with a warning.",
    words("LoadModule", SERVER, "identifier file", 2..=2, load_module).of("mod_so.c")
        .effect(Effect::Start)
        .because("all supported modules are built in"),
    "Accepted and ignored for the modules of httpd that are built in (mod_perl, mod_alias, …). Other modules cause a \
     warning.",
];

fn set(field: &mut Option<String>, value: &str) -> Result<(), String> {
    *field = Some(value.to_owned());
    Ok(())
}

/// `Listen [address:]port [protocol]`
fn listen(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let https = match args.get(1).map(|protocol| protocol.to_ascii_lowercase()).as_deref() {
        None | Some("http") => false,
        Some("https") => true,
        Some(protocol) => {
            draft.warn(&format!("protocol {protocol} is ignored: only http and https are known; PerlProcessConnectionHandler handles other protocols"));
            false
        }
    };
    let listen = address::listen(&args[0])?;
    if https && matches!(listen, Listen::Unix(_)) {
        return Err("TLS is not supported on unix sockets; remove https".to_owned());
    }
    if draft.config.listen.contains(&listen) {
        return Err(format!("duplicate address {}; remove one of the two lines", args[0]));
    }
    if https {
        draft.config.https.push((listen.clone(), draft.at.clone()));
    }
    draft.config.listen.push(listen);
    Ok(())
}

/// `ServerName name[:port]`
fn server_name(draft: &mut Draft, text: &str) -> Result<(), String> {
    let (name, port) = address::server_name(text)?;
    let host = draft.host();
    (host.server_name, host.server_port) = (Some(name), port);
    Ok(())
}

/// `LoadModule identifier file`
fn load_module(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let message = format!("{} is not part of Cameleer and is not loaded; remove this line", args[0]);
    if modules::is_of_httpd(&args[0]) {
        draft.without_effect(&message);
    } else if !modules::is_embodied(&args[0]) {
        draft.warn(&message);
    }
    Ok(())
}
