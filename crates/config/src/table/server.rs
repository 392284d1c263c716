//! The server as a whole: its root folder, addresses, user, host names and modules.

use crate::draft::Draft;
use crate::model::address;
use crate::model::server::Listen;
use crate::syntax::modules;
use crate::table::row::{Effect, HOSTS, MANY, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ServerRoot",
        contexts: SERVER,
        takes: Takes::Word("folder", |_, _| Ok(())),
        because: "`-d`, or the folder of the configuration file",
        effect: Effect::Start,
        about: "Start of relative paths, including those on earlier lines of the file.",
        ..ROW
    },
    Row {
        name: "Listen",
        contexts: SERVER,
        takes: Takes::Words("[address:]port|socket-path [http|https]", 1..=2, listen),
        because: "a port that was opened by default is a risk: at least one Listen or Port is required",
        about: "An address to listen on: a port (all IPv4 addresses), an address with a port, `[::]:port`, or the path of a unix socket. \
            `https` after the address turns on TLS there. May be repeated.",
        ..ROW
    },
    Row {
        name: "Port",
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, port| d.port = u16::try_from(port).ok()),
        because: "use Listen",
        about: "Apache 1.3's directive: the port to listen on, on every address, when there is no Listen.",
        ..ROW
    },
    Row {
        name: "ListenBacklog",
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, n| d.config.listen_backlog = n as u32),
        default: Some("4096"),
        because: "the front accepts at once, so this queue holds a burst and no stale work; the kernel's default limit is 4096",
        effect: Effect::Start,
        about: "Maximum number of connections that the kernel queues until they are accepted. net.core.somaxconn may lower it.",
        ..ROW
    },
    Row {
        name: "User",
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.user, name)),
        because: "without root the user cannot change",
        effect: Effect::Start,
        about: "The user of the front and the Perl processes when root starts the master.",
        ..ROW
    },
    Row {
        name: "Group",
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.group, name)),
        because: "the group of User",
        effect: Effect::Start,
        about: "The group of the front and the Perl processes when root starts the master.",
        ..ROW
    },
    Row {
        name: "PidFile",
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.pid_file = Some(path)),
        because: "the control socket and systemd need none",
        effect: Effect::Start,
        about: "Contains the process id of the master, and is locked, while the master runs. A symbolic link is refused. Where root starts the \
            server and others may write to the folder, the file is not written and the error log has a message.",
        ..ROW
    },
    Row {
        name: "ControlSocket",
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.control_socket = Some(path)),
        because: "the master chooses a private folder",
        effect: Effect::Start,
        about: "The unix socket through which `cameleer status`, `reload`, `stop` and `purge` reach the master.",
        ..ROW
    },
    Row {
        name: "ServerName",
        contexts: HOSTS,
        takes: Takes::Word("name[:port]", server_name),
        because: "the Host header of the request is enough",
        about: "The name that selects a virtual host, and the name in links that the server generates.",
        ..ROW
    },
    Row {
        name: "ServerAlias",
        contexts: HOSTS,
        takes: Takes::Words("name…", 1..=MANY, |d, names| {
            d.host().server_aliases.extend_from_slice(names);
            Ok(())
        }),
        because: "most hosts have one name",
        about: "More names that select a virtual host; `*` and `?` are wildcards.",
        ..ROW
    },
    Row {
        name: "ServerAdmin",
        contexts: HOSTS,
        takes: Takes::Word("address", |d, address| set(&mut d.host().server_admin, address)),
        because: "only the site knows its administrator; programs get `[no address given]`",
        about: "The mail address that programs get as SERVER_ADMIN. A virtual host inherits it.",
        ..ROW
    },
    Row {
        name: "NameVirtualHost",
        contexts: SERVER,
        takes: Takes::Words("address", 1..=1, |d, _| {
            d.warn("has no effect, as in httpd 2.4: remove it");
            Ok(())
        }),
        because: "names select among several virtual hosts on one address without it",
        about: "Accepted for old configurations and ignored, with a warning.",
        ..ROW
    },
    Row {
        name: "LoadModule",
        contexts: SERVER,
        takes: Takes::Words("identifier file", 2..=2, |d, args| {
            load_module(d, args);
            Ok(())
        }),
        because: "all supported modules are built in",
        effect: Effect::Start,
        about: "Accepted and ignored for the modules of httpd that are built in (mod_perl, mod_alias, …). Other modules cause a warning.",
        ..ROW
    },
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
        return Err("TLS is not supported on unix sockets: remove https".to_owned());
    }
    if draft.config.listen.contains(&listen) {
        return Err(format!("duplicate address {}: remove one of the two lines", args[0]));
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
fn load_module(draft: &mut Draft, args: &[String]) {
    if !modules::is_embodied(&args[0]) {
        draft.warn(&format!("{} is not part of Cameleer and is not loaded: remove this line", args[0]));
    }
}
