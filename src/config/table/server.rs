//! The server as a whole: where it lives, whom it runs as, which hosts it is.

use crate::config::draft::Draft;
use crate::config::model::address;
use crate::config::model::server::Listen;
use crate::config::syntax::modules;
use crate::config::table::row::{Effect, HOSTS, MANY, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ServerRoot",
        contexts: SERVER,
        takes: Takes::Word("folder", |_, _| Ok(())),
        because: "`-d` or the folder of the configuration file says it",
        effect: Effect::Start,
        about: "Relative paths start here, those above it in the file, too.",
        ..ROW
    },
    Row {
        name: "Listen",
        contexts: SERVER,
        takes: Takes::Words("[address:]port|socket-path [http|https]", 1..=2, listen),
        because: "a port that nobody asked for is a hole: at least one must be written",
        about: "Where to listen: a port on all IPv4 addresses, an address with port, `[::]:port`, or the path of a unix socket; `https` \
            behind it turns TLS on there. May be repeated.",
        ..ROW
    },
    Row {
        name: "Port",
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, port| d.port = u16::try_from(port).ok()),
        because: "Listen says it",
        about: "Apache 1's: where to listen when there is no Listen, on every address.",
        ..ROW
    },
    Row {
        name: "ListenBacklog",
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, n| d.config.listen_backlog = n as u32),
        default: Some("4096"),
        because: "the front accepts at once, so what waits here is a burst and not stale work; the kernel's own limit is 4096",
        effect: Effect::Start,
        about: "How many connections the kernel keeps before they are accepted; it may keep fewer (net.core.somaxconn).",
        ..ROW
    },
    Row {
        name: "User",
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.user, name)),
        because: "without root there is nobody to change to",
        effect: Effect::Start,
        about: "Who the front and the Perl processes run as when the master is started by root.",
        ..ROW
    },
    Row {
        name: "Group",
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.group, name)),
        because: "the group of User",
        effect: Effect::Start,
        about: "The group that goes with User.",
        ..ROW
    },
    Row {
        name: "PidFile",
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.pid_file = Some(path)),
        because: "the control socket and systemd need none",
        effect: Effect::Start,
        about: "Holds the process id of the master, and a lock, while it runs. A link is refused; where root starts the server and \
            others may write to the folder, the file is not written and the error log says so.",
        ..ROW
    },
    Row {
        name: "ControlSocket",
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.control_socket = Some(path)),
        because: "the master chooses a private place",
        effect: Effect::Start,
        about: "The unix socket over which `cameleer status`, `reload`, `stop` and `purge` talk to the master.",
        ..ROW
    },
    Row {
        name: "ServerName",
        contexts: HOSTS,
        takes: Takes::Word("name[:port]", server_name),
        because: "the Host header of the request serves as well",
        about: "The name by which a virtual host is found, and the name in links that the server makes itself.",
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
        about: "More names of a virtual host; `*` and `?` are wildcards.",
        ..ROW
    },
    Row {
        name: "ServerAdmin",
        contexts: HOSTS,
        takes: Takes::Word("address", |d, address| set(&mut d.host().server_admin, address)),
        because: "an address that nobody reads helps nobody: programs are told `[no address given]`",
        about: "The mail address given to programs as SERVER_ADMIN. A virtual host inherits it.",
        ..ROW
    },
    Row {
        name: "NameVirtualHost",
        contexts: SERVER,
        takes: Takes::Words("address", 1..=1, |d, _| {
            d.warn("has no effect, as in httpd 2.4: remove it");
            Ok(())
        }),
        because: "several virtual hosts on one address are told apart by name anyway",
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
        because: "everything that we have is built in",
        effect: Effect::Start,
        about: "Accepted and ignored for httpd's modules whose work we do ourselves (mod_perl, mod_alias, …); a warning for others.",
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
            draft.warn(&format!("{protocol} says nothing here: TLS is spoken where https is said, and code of PerlProcessConnectionHandler speaks what it likes"));
            false
        }
    };
    let listen = address::listen(&args[0])?;
    if https && matches!(listen, Listen::Unix(_)) {
        return Err("TLS is not spoken on unix sockets: who comes there has come over the network already".to_owned());
    }
    if draft.config.listen.contains(&listen) {
        return Err(format!("{} is listened on already: remove one of the two lines", args[0]));
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
