//! Access to the running server's status, and its history.

use crate::draft::Draft;
use crate::model::address;
use crate::model::server::{AdminAddress, HistorySetting};
use crate::table::row::{Effect, Row, SERVER, path, rows, word};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    word("AdminListen", SERVER, "address:port|socket-path", admin_listen)
        .effect(Effect::Start)
        .because("the status of a server is for its administrator only, so it is shown nowhere by default"),
    "Address of the dashboard, metrics, status and history, which a separate process, the monitor, serves. A loopback \
     address (127.0.0.1, `[::1]`) or a unix socket needs no AdminToken; any other address does. May be repeated.",
    path("AdminToken", SERVER, |d, path| {
        let at = d.at.clone();
        d.config.monitor.token = Some((path, at));
    })
    .effect(Effect::Start)
    .because("a loopback address trusts the users of the machine; any other AdminListen requires a token"),
    "A file with the secret for AdminListen, sent as `Authorization: Bearer …` or as the password of Basic \
     authentication with any user name. Only its owner may read the file. Unix sockets need no token: their files are \
     private.",
    word("HistoryFile", SERVER, "path|auto|off", history_file)
        .effect(Effect::Start)
        .default("auto", "an incident of the night can be analysed in the morning only if its data was stored"),
    "Where the monitor stores the last seven days, one record a second, in at most 48 MB. `auto`: the file `history` \
     in systemd's StateDirectory; without one, only the last hour, in memory, for AdminListen.",
];

fn admin_listen(draft: &mut Draft, word: &str) -> Result<(), String> {
    let port_alone = word.parse::<u16>().is_ok();
    if port_alone {
        return Err(format!(
            "expected an address with a port, got \"{word}\"; write 127.0.0.1:{word} for access from this machine only"
        ));
    }
    let (listen, at) = (address::listen(word)?, draft.at.clone());
    if draft.config.monitor.listen.iter().any(|known| known.listen == listen) {
        return Err(format!("duplicate address {word}; remove one of the two lines"));
    }
    draft.config.monitor.listen.push(AdminAddress { listen, at });
    Ok(())
}

fn history_file(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.monitor.history = match word.to_ascii_lowercase().as_str() {
        "auto" => HistorySetting::Auto,
        "off" => HistorySetting::Off,
        _ => HistorySetting::File(draft.path(word)),
    };
    Ok(())
}
