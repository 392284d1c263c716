//! Who may look at the running server, and what is kept of its past.

use crate::config::draft::Draft;
use crate::config::model::address;
use crate::config::model::server::{AdminAddress, History};
use crate::config::table::row::{Effect, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "AdminListen",
        contexts: SERVER,
        takes: Takes::Word("address:port|socket-path", admin_listen),
        because: "what a server does is nobody's business but its administrator's: whoever wants to see it says where",
        effect: Effect::Start,
        about: "Where a process of its own, the monitor, shows the dashboard, metrics, status and history. An address of this machine \
            alone (127.0.0.1, `[::1]`) or the path of a unix socket needs no AdminToken, any other does. May be repeated.",
        ..ROW
    },
    Row {
        name: "AdminToken",
        contexts: SERVER,
        takes: Takes::Path(|d, path| {
            let at = d.at.clone();
            d.config.monitor.token = Some((path, at));
        }),
        because: "on an address of this machine alone its users are trusted; on any other AdminListen must have one",
        effect: Effect::Start,
        about: "A file with the secret that whoever asks at an AdminListen must know, as `Authorization: Bearer …` or as the password of \
            Basic authentication with any name; only its owner may read the file. Unix sockets ask for none: their files are private.",
        ..ROW
    },
    Row {
        name: "HistoryFile",
        contexts: SERVER,
        takes: Takes::Word("path|auto|off", history_file),
        default: Some("auto"),
        because: "what happened at 03:12 can be told in the morning only when it was written down",
        effect: Effect::Start,
        about: "Where the monitor keeps the last seven days, second by second, in 48 MB at most. `auto`: the file `history` in systemd's \
            StateDirectory or, where there is none, the last hour in memory for AdminListen.",
        ..ROW
    },
];

fn admin_listen(draft: &mut Draft, word: &str) -> Result<(), String> {
    let port_alone = word.parse::<u16>().is_ok();
    if port_alone {
        return Err(format!(
            "expected an address with the port: write 127.0.0.1:{word} to be asked by this machine alone"
        ));
    }
    let (listen, at) = (address::listen(word)?, draft.at.clone());
    if draft.config.monitor.listen.iter().any(|known| known.listen == listen) {
        return Err(format!("{word} is named twice"));
    }
    draft.config.monitor.listen.push(AdminAddress { listen, at });
    Ok(())
}

fn history_file(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.monitor.history = match word.to_ascii_lowercase().as_str() {
        "auto" => History::Auto,
        "off" => History::Off,
        _ => History::File(draft.path(word)),
    };
    Ok(())
}
