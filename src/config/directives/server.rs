//! The server as a whole: where it lives, whom it runs as, which hosts it is.

use super::super::site;
use super::{Effect, HOSTS, MANY, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ServerRoot",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("folder", |_, _| Ok(())),
        default: None,
        because: "`-d` or the folder of the configuration file says it",
        effect: Effect::Start,
        about: "Relative paths start here, those above it in the file, too.",
    },
    Row {
        name: "Listen",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("[address:]port|socket-path [http|https]", 1..=2, site::listen),
        default: None,
        because: "a port that nobody asked for is a hole: at least one must be written",
        effect: Effect::Reload,
        about: "Where to listen: a port on all IPv4 addresses, an address with port, `[::]:port`, or the path of a unix socket; `https` \
            behind it turns TLS on there. May be repeated.",
    },
    Row {
        name: "Port",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, port| d.port = u16::try_from(port).ok()),
        default: None,
        because: "Listen says it",
        effect: Effect::Reload,
        about: "Apache 1's: where to listen when there is no Listen, on every address.",
    },
    Row {
        name: "ListenBacklog",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, n| d.config.listen_backlog = n as u32),
        default: Some("4096"),
        because: "the front accepts at once, so what waits here is a burst and not stale work; the kernel's own limit is 4096",
        effect: Effect::Start,
        about: "How many connections the kernel keeps before they are accepted; it may keep fewer (net.core.somaxconn).",
    },
    Row {
        name: "User",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.user, name)),
        default: None,
        because: "without root there is nobody to change to",
        effect: Effect::Start,
        about: "Who the front and the Perl processes run as when the master is started by root.",
    },
    Row {
        name: "Group",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.group, name)),
        default: None,
        because: "the group of User",
        effect: Effect::Start,
        about: "The group that goes with User.",
    },
    Row {
        name: "PidFile",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.pid_file = Some(path)),
        default: None,
        because: "the control socket and systemd need none",
        effect: Effect::Start,
        about: "Holds the process id of the master, and a lock, while it runs.",
    },
    Row {
        name: "ControlSocket",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.control_socket = Some(path)),
        default: None,
        because: "the master chooses a private place",
        effect: Effect::Start,
        about: "The unix socket over which `cameleer status`, `reload` and `stop` talk to the master.",
    },
    Row {
        name: "ServerName",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("name[:port]", site::server_name),
        default: None,
        because: "the Host header of the request serves as well",
        effect: Effect::Reload,
        about: "The name by which a virtual host is found, and the name in links that the server makes itself.",
    },
    Row {
        name: "ServerAlias",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("name…", 1..=MANY, |d, names| {
            d.host().server_aliases.extend_from_slice(names);
            Ok(())
        }),
        default: None,
        because: "most hosts have one name",
        effect: Effect::Reload,
        about: "More names of a virtual host; `*` and `?` are wildcards.",
    },
    Row {
        name: "ServerAdmin",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("address", |d, address| set(&mut d.host().server_admin, address)),
        default: None,
        because: "an address that nobody reads helps nobody: programs are told `[no address given]`",
        effect: Effect::Reload,
        about: "The mail address given to programs as SERVER_ADMIN. A virtual host inherits it.",
    },
    Row {
        name: "NameVirtualHost",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("address", 1..=1, |d, _| {
            d.warn("has no effect, as in httpd 2.4: remove it");
            Ok(())
        }),
        default: None,
        because: "several virtual hosts on one address are told apart by name anyway",
        effect: Effect::Reload,
        about: "Accepted for old configurations and ignored, with a warning.",
    },
    Row {
        name: "LoadModule",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("identifier file", 2..=2, |d, args| {
            site::load_module(d, args);
            Ok(())
        }),
        default: None,
        because: "everything that we have is built in",
        effect: Effect::Start,
        about: "Accepted and ignored for httpd's modules whose work we do ourselves (mod_perl, mod_alias, …); a warning for others.",
    },
];

fn set(field: &mut Option<String>, value: &str) -> Result<(), String> {
    *field = Some(value.to_owned());
    Ok(())
}
