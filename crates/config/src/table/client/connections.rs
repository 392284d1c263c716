//! Connections: their number, read timeouts, the front's threads, and spooled bodies and responses.

use crate::draft::Draft;
use crate::table::row::{HOSTS, Row, SERVER, number, path, rows, size, word, words};

/// Limited by the number of rings of a worker ([`wire::memory::MAX_THREADS`]).
const MAX_THREADS: u32 = wire::memory::MAX_THREADS as u32;

pub static ROWS: &[Row] = rows![
    "cameleer.c",
    words(
        "RequestReadTimeout",
        HOSTS,
        "[handshake|header|body]=time[-time][,MinRate=bytes]…",
        1..=3,
        request_read_timeout
    )
    .of("mod_reqtimeout.c")
    .default(
        "handshake=20 header=20-40,MinRate=500 body=20,MinRate=500",
        "httpd's defaults, with a limit for handshakes: regular clients do not need longer"
    ),
    "Time limits for a TLS handshake, the head of a request and its body. The limit is the first time, plus a second \
     for each MinRate bytes, up to the second time; 0 is unlimited. A late head or body is answered 408. The handshake \
     and header limits of a connection are those of the first host on its address.",
    word("FrontThreads", SERVER, "auto|a number from 1 to 64", front_threads).default(
        "auto",
        "the front does TLS and compression and copies every byte; the workers need the other half of the cores"
    ),
    "Number of threads of the front; auto is one for two cores, up to 8. Each thread has its own connections, and does \
     TLS, compression and file reads for them. Limits apply to all threads together. A reload can add threads; threads \
     that it removes get no new connections.",
    number("MaxConnections", SERVER, 1..=1_000_000, |d, n| d.config.clients.connections = n as u32).default(
        "20000",
        "an idle connection costs the front about 20 kB, with TLS 30 kB; the limit on open files may allow fewer"
    ),
    "Maximum number of connections of all clients. For a further connection, the connection that was idle for longest \
     is closed. If none is idle, the new one is answered 503 and closed.",
    number("MaxConnectionsPerClient", SERVER, 0..=1_000_000, |d, n| d.config.clients.connections_per_client = n as u32)
        .default("0", "a proxy or a company's gateway is one client with many connections"),
    "Maximum number of connections of one IPv4 address, or of one IPv6 /64; 0 is unlimited. A further connection is \
     answered 503 and closed. With RemoteIPProxyProtocol, the PROXY header names the client.",
    path("SpoolDirectory", SERVER, |d, path| d.config.spooling.folder = Some(path)).because("TMPDIR, or /tmp"),
    "Folder of unnamed temporary files for data that does not fit into memory. They hold request bodies while they \
     arrive, and responses to slow clients while other requests wait for the worker. User must have write access; \
     prefer a disk to a memory file system.",
    size("SpoolLimit", SERVER, |d, size| d.config.spooling.most = size)
        .default("4G", "an endless response must not fill the disk"),
    "Maximum number of bytes of one response that are spooled. Beyond it, the worker waits for its client. While \
     requests wait for a worker, that client must accept 64 KB a second, or the rest of its response is dropped. 0 \
     disables spooling of responses. LimitRequestBody limits request bodies.",
    size("SpoolTotalLimit", SERVER, |d, size| d.config.spooling.total = size)
        .default("16G", "many slow clients together must not fill the disk"),
    "Maximum number of spooled bytes of all responses together. Responses beyond it are handled as beyond SpoolLimit.",
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
