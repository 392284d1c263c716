//! How many connections clients may have, and how slowly they may send.

use crate::config::draft::Draft;
use crate::config::table::row::{HOSTS, ROW, Row, SERVER, Takes};

/// Workers have a ring for each ([`wire::memory::MAX_THREADS`]).
const MAX_THREADS: u32 = wire::memory::MAX_THREADS as u32;

pub static ROWS: &[Row] = &[
    Row {
        name: "RequestReadTimeout",
        contexts: HOSTS,
        takes: Takes::Words("[handshake|header|body]=time[-time][,MinRate=bytes]…", 1..=3, request_read_timeout),
        default: Some("handshake=20 header=20-40,MinRate=500 body=20,MinRate=500"),
        because: "httpd's, with a limit for handshakes: no client that means it needs longer",
        about: "How long a TLS handshake, the whole head of a request and its body may take: the first time, a second more for each \
            MinRate bytes, at most the second time; 0 is for ever. A head or body that is late is answered 408. A virtual host's \
            handshake and header are those of the first on its address.",
        ..ROW
    },
    Row {
        name: "FrontThreads",
        contexts: SERVER,
        takes: Takes::Word("auto|a number from 1 to 64", front_threads),
        default: Some("auto"),
        because: "TLS, compression and every byte of every answer are the front's; the workers need the other half of the cores",
        about: "Threads of the front; auto is one for two cores, up to 8. Each has its own connections, and speaks TLS, compresses and reads files for them. Limits hold for all \
            threads together. A reload can add threads; those that it takes away get no new connections.",
        ..ROW
    },
    Row {
        name: "MaxConnections",
        contexts: SERVER,
        takes: Takes::Number(1..=1_000_000, |d, n| d.config.clients.connections = n as u32),
        default: Some("20000"),
        because: "an idle connection costs the front about 20 kB, with TLS 30; the limit on open files may allow fewer",
        about: "Connections of all clients at one time. For one more, those that were idle for longest are closed; when none is idle, it \
            is answered 503 and closed.",
        ..ROW
    },
    Row {
        name: "MaxConnectionsPerClient",
        contexts: SERVER,
        takes: Takes::Number(0..=1_000_000, |d, n| d.config.clients.connections_per_client = n as u32),
        default: Some("0"),
        because: "a proxy or a company's gateway is one client with many connections",
        about: "Connections of one address, or of one IPv6 network of 64 bits, at one time; 0 is any number. One more is answered 503 \
            and closed. Where RemoteIPProxyProtocol is on, the client is who the PROXY header names.",
        ..ROW
    },
    Row {
        name: "SpoolDirectory",
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.spooling.folder = Some(path)),
        because: "TMPDIR, or /tmp",
        about: "Where files without a name hold what does not fit into memory: bodies of requests while they arrive, and answers that a slow \
            client has not taken while others wait for the worker. User must be able to write there; a disk is better than memory.",
        ..ROW
    },
    Row {
        name: "SpoolLimit",
        contexts: SERVER,
        takes: Takes::Size(|d, size| d.config.spooling.most = size),
        default: Some("4G"),
        because: "an answer without an end must not fill the disk",
        about: "As many bytes of one answer go through such a file; a worker that sends more waits for its client after all. While requests \
            wait for a worker, that client has to take 64 KB a second, or loses the rest of its answer. 0: no answer goes through a file. \
            How long bodies of requests may be, LimitRequestBody says.",
        ..ROW
    },
    Row {
        name: "SpoolTotalLimit",
        contexts: SERVER,
        takes: Takes::Size(|d, size| d.config.spooling.total = size),
        default: Some("16G"),
        because: "many slow clients must not fill the disk together",
        about: "As many bytes of all answers together lie in such files. What comes on top is treated as what exceeds SpoolLimit.",
        ..ROW
    },
];

fn front_threads(draft: &mut Draft, word: &str) -> Result<(), String> {
    let number = || word.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    draft.config.clients.threads = match word.eq_ignore_ascii_case("auto") {
        true => None,
        false => {
            Some(number().ok_or_else(|| format!("expected auto or a number from 1 to {MAX_THREADS}, got \"{word}\""))?)
        }
    };
    Ok(())
}

fn request_read_timeout(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let timeouts = &mut draft.host().read_timeouts;
    words.iter().try_for_each(|word| timeouts.read(word))
}
