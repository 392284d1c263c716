//! The pool of workers, its queue, and the timeouts of its requests.

use wire::broadcast::MAX_MESSAGE;
use wire::memory::blocks;

use crate::draft::Draft;
use crate::model::access::origins::WebSocketOrigins;
use crate::model::server::PsgiMode;
use crate::model::store::StoreUrl;
use crate::syntax::value;
use crate::table::row::{ANYWHERE, Effect, MANY, POOLS, Row, SERVER, duration, number, rows, size, word, words};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    number("StartServers", POOLS, 1..=20000, |d, n| d.pool().start = n as u32)
        .of("core.c")
        .effect(Effect::Generation)
        .default("5", "httpd's prefork; forking another worker takes a few milliseconds"),
    "Number of workers forked at the start. Limited by MaxClients.",
    number("MinSpareServers", POOLS, 1..=20000, |d, n| d.pool().min_spare = n as u32)
        .of("core.c")
        .default("5", "httpd's prefork: enough for a burst until more are forked"),
    "Minimum number of idle workers. With fewer, more are forked.",
    number("MaxSpareServers", POOLS, 1..=20000, |d, n| d.pool().max_spare = n as u32)
        .of("core.c")
        .default("10", "httpd's prefork: twice the minimum avoids alternate forking and exiting"),
    "Maximum number of idle workers. With more, some exit. A value not above MinSpareServers counts as MinSpareServers \
     + 1.",
    word("MaxClients", POOLS, "number|auto", max_clients)
        .of("core.c")
        .aliases(&["MaxRequestWorkers"])
        .default("256", "httpd's prefork; set it to the available memory divided by the size of a busy worker"),
    "Maximum number of workers, and so of requests in Perl at the same time. Idle connections need no worker. Exiting \
     workers that still run END blocks are not counted; there are at most as many of them again. `auto` follows the \
     load: workers are added while processors are free and throughput rises, within MemoryBudget and up to 512.",
    word("MaxRequestsPerChild", POOLS, "number|low-high", max_requests)
        .of("core.c")
        .aliases(&["MaxConnectionsPerChild"])
        .default("10000-12000", "Perl programs grow; a fork every ten thousand requests costs nothing measurable"),
    "A worker exits after this many requests and is replaced; 0 is never. With a range, each worker draws a random \
     limit, so that workers do not exit together.",
    number("QueueLength", POOLS, 1..=1_000_000, |d, n| d.pool().queue_length = n as usize)
        .default("4096", "as many as ListenBacklog, so that a burst is served; QueueTimeout bounds the wait"),
    "Maximum number of requests that wait for a worker. Further requests are answered 503 at once.",
    duration("QueueStale", POOLS, |d, time| d.pool().queue_stale = time)
        .default("500ms", "a burst is over by then, and users begin to notice the delay"),
    "When requests have waited this long and the queue still grows, the newest request is served first. Until the \
     overload is over, requests that have waited for about the time of one request are answered 503. 0 is never.",
    word("PsgiMode", POOLS, "blocking|event", psgi_mode).effect(Effect::Generation).default(
        "blocking",
        "most programs wait for their database, and then a worker with many requests stops them all"
    ),
    "How the workers of a pool run their applications: one request at a time, or in an event loop with many requests at \
     a time, for WebSocket, long polling and server-sent events. In an event pool StartServers is the fixed number of \
     workers, and the pool has one application.",
    number("EventConnections", POOLS, 1..=100_000, |d, n| d.pool().event_connections = n as u32)
        .default("1000", "hypnotoad's; each connection needs a descriptor in the front and one in the worker"),
    "Maximum number of requests and open WebSockets of one worker of an event pool. Further requests wait, as those for \
     busy workers do: QueueLength, QueueTimeout.",
    duration("EventIdleTimeout", ANYWHERE, |d, time| d.settings().event_idle_timeout = Some(time))
        .default("0", "programs have their own limits, and a quiet WebSocket costs nothing but its descriptors"),
    "Maximum time without a byte of a response that has begun, and of a WebSocket in either direction, in an event \
     pool; 0 is unlimited. Until a response begins, RequestTimeout is the limit.",
    size("WebSocketMaxMessage", ANYWHERE, |d, size| d.settings().websocket_max_message = Some(size))
        .default("1M", "a message is whole in memory, decompressed, before the program gets it"),
    "Maximum size of a WebSocket message of a client to a program of PAGI; a longer one closes the connection with \
     status 1009. Programs of Mojolicious have a limit of their own: max_websocket_size.",
    number("WebSocketMaxRate", ANYWHERE, 0..=1_000_000, |d, frames| d.settings().websocket_max_rate =
        Some(frames as u32))
    .default("10000", "a hundred times what a person or a page sends; an empty frame costs as much as a message"),
    "Maximum number of frames of a WebSocket's client per second, averaged over ten seconds; more close the connection \
     with status 1008. Parts of messages count, too. Of pings and pongs a client may send 100 per second, and 2000 at \
     once. 0 is unlimited. Applies to programs of PAGI and Mojolicious; a backend and a program with psgix.io limit their clients themselves.",
    words("WebSocketOrigin", ANYWHERE, "any|same-host|null|URL…", 1..=MANY, websocket_origin)
        .default("any", "programs that other sites use by intention would stop working; see the text"),
    "Pages that may open WebSockets, by the field Origin that browsers send: `same-host` those of the host and port \
     that the request names, an URL such as https://app.example.com those of this origin, with `*.` before the host \
     those of all hosts below it, `null` sandboxed pages and files. Other handshakes get 403 before a worker or a \
     backend gets them. A handshake without the field passes, because only browsers send it. A program that trusts \
     cookies needs `same-host`, or a check of its own: browsers send cookies with the WebSockets of any page.",
    word("BroadcastMaxMessage", SERVER, "size", max_broadcast)
        .default("64K", "a message is news about data, and the data is better fetched; it is also the maximum"),
    "Maximum size of a message of Cameleer::Broadcast, at most 64K; a longer one is an error in the program that \
     publishes it.",
    word("BroadcastTransport", SERVER, "url|off", broadcast_transport)
        .secret()
        .default("off", "one server needs no store, and only the site knows its own"),
    "Carries messages of Cameleer::Broadcast to other servers with the same store and prefix: `redis://[user:password@]host[:port]`, \
     `rediss://…` with TLS, `unix:/path` of Redis, `postgresql://user[:password]@host[:port]/database`. Parameters behind \
     a `?`: prefix, which separates sites of one store; user; password_file; ca_file; for PostgreSQL also host (the \
     socket's folder) and sslmode=verify-full. No log and no status shows the password.",
    number("HoldConnections", SERVER, 1..=1_000_000, |d, n| d.config.hold_connections = n as usize)
        .default("10000", "below the usual limit of descriptors, and each needs a few KiB in the front"),
    "Maximum number of responses that the front holds for programs (Cameleer-Hold). Further ones are answered 500. \
     MaxConnections limits them, too.",
    duration("HoldKeepAlive", ANYWHERE, |d, time| d.settings().hold_keep_alive = Some(time))
        .default("30s", "proxies and address translation end connections that are quiet for a minute"),
    "A held stream of server-sent events gets a comment after this time without a message, so that a client that has \
     gone is noticed; 0 is never.",
    duration("HoldTimeout", ANYWHERE, |d, time| d.settings().hold_timeout = Some(time))
        .default("50s", "a minute is the usual limit of clients and proxies"),
    "Time that a long poll (`Cameleer-Hold: response`) waits for a message. After it the client gets the response of the \
     program.",
    words("WireMemory", SERVER, "size, 16K to 1M", 1..=1, wire_memory)
        .effect(Effect::Generation)
        .default("1M", "a response of this size frees its worker at once; only blocks that were used take up memory"),
    "Memory of each worker for parts of responses that the front has not sent yet. A worker without free blocks waits \
     for the client. Allocated in blocks of 16K.",
    duration("QueueTimeout", ANYWHERE, |d, time| d.settings().queue_timeout = Some(time))
        .default("30s", "neither users nor proxies wait longer"),
    "A request that has waited this long for a worker is answered 503 with Retry-After.",
    duration("RequestTimeout", ANYWHERE, |d, time| d.settings().request_timeout = Some(time)).default(
        "300s",
        "httpd's Timeout for scripts was 300 s for decades: long enough for reports, short enough for endless \
             loops"
    ),
    "Maximum time of a request in Perl; 0 is unlimited. After it the Perl stack is written to the error log, the \
     program dies, and the client gets 504. A program may ask for more time, up to RequestTimeoutLimit: \
     `$r->extend_timeout(seconds)`. Cleanups after the response have the same limit separately.",
    duration("RequestTimeoutLimit", ANYWHERE, |d, time| d.settings().request_timeout_limit = Some(time)).default(
        "1h",
        "longer work belongs into a job; a program that asks for more time in a loop would hold its worker for \
             ever"
    ),
    "Maximum of RequestTimeout and the time that the program has asked for, with `$r->extend_timeout` or \
     `cameleer.extend_timeout`; 0 is unlimited. A longer RequestTimeout is not shortened.",
    duration("RequestTimeoutGrace", ANYWHERE, |d, time| d.settings().request_timeout_grace = Some(time)).default(
        "5s",
        "enough to roll back a transaction; a program that is stuck in C code does not recover in a minute"
    ),
    "Time that an interrupted request has to end. After it the worker is killed and the client gets 504; 0 is at once.",
    word("SlowLog", SERVER, "time|off", slow_log).default(
        "off",
        "a slow request takes seconds in a shop, and minutes in a report: only the site knows its limit"
    ),
    "The Perl stack of a request that takes longer than this is sampled ten times a second, without interrupting the \
     request. At its end a line in the error log shows where the time was spent, and `cameleer why` shows more.",
    duration("StartTimeout", SERVER, |d, time| d.config.timeouts.start = time)
        .default("60s", "large sites compile for twenty seconds on small machines"),
    "Time for a generation to load all its Perl code. After it the generation has failed; at a reload the old \
     generation stays.",
    duration("FrontTimeout", SERVER, |d, time| d.config.timeouts.front = time).default(
        "20s",
        "no work of a front takes a second, but a swapping machine may stop it for some, and replacing a front \
             costs all its connections"
    ),
    "A front that has not answered the master for this long is replaced; the workers stay. Only the master's own \
     waiting counts, and no time in which the front had no processor, the machine slept or a debugger stopped the \
     front; 0 is never.",
    duration("GracefulShutdownTimeout", SERVER, |d, time| d.config.timeouts.graceful = time)
        .of("core.c")
        .default("30s", "systemd kills after 90 s, orchestrators after 30"),
    "Time that active requests have to end at a graceful stop, in an old generation, and after their front has died; 0 \
     is unlimited.",
];

/// Upper limit of `MaxClients auto`: more workers need an explicit number.
const MAX_BY_THEMSELVES: u32 = 512;

fn max_clients(draft: &mut Draft, text: &str) -> Result<(), String> {
    let is_auto = text.eq_ignore_ascii_case("auto");
    if is_auto && !draft.config.more_pools.is_empty() {
        return Err(
            "auto needs a server with one pool of workers, and this server has several; write a number".to_owned()
        );
    }
    let pool = draft.pool();
    pool.auto = is_auto;
    pool.max_clients = match pool.auto {
        true => MAX_BY_THEMSELVES,
        false => {
            let number =
                value::number(text, &(1..=20000)).map_err(|error| error.replace("expected", "expected auto or"))?;
            u32::try_from(number).unwrap_or(u32::MAX)
        }
    };
    Ok(())
}

fn max_requests(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.pool().max_requests = value::range(text)?;
    Ok(())
}

fn wire_memory(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let blocks = usize::try_from(value::size(&args[0])?).unwrap_or(usize::MAX) / blocks::SIZE;
    if !(1..=blocks::MAX_BLOCKS).contains(&blocks) {
        return Err(format!("expected a size from 16K to 1M, got \"{}\"", args[0]));
    }
    draft.pool().blocks = blocks;
    Ok(())
}

fn psgi_mode(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.pool().mode = match word.to_ascii_lowercase().as_str() {
        "blocking" => PsgiMode::Blocking,
        "event" => PsgiMode::Event,
        _ => return Err(format!("expected blocking or event, got \"{word}\"")),
    };
    Ok(())
}

fn broadcast_transport(draft: &mut Draft, url: &str) -> Result<(), String> {
    draft.config.broadcast_store = match url.eq_ignore_ascii_case("off") {
        true => None,
        false => Some(StoreUrl::parse(url)?),
    };
    Ok(())
}

fn websocket_origin(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.settings().websocket_origin = Some(WebSocketOrigins::parse(args)?);
    Ok(())
}

fn max_broadcast(draft: &mut Draft, word: &str) -> Result<(), String> {
    let size = value::size(word)?;
    if size > MAX_MESSAGE as u64 {
        return Err(format!("expected at most {MAX_MESSAGE} bytes, got \"{word}\""));
    }
    draft.config.broadcast_max_message = size;
    Ok(())
}

fn slow_log(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.timeouts.slow_log = match word.to_ascii_lowercase().as_str() {
        "off" => None,
        _ => Some(value::duration(word)?),
    };
    Ok(())
}
