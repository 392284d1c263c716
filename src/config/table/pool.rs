//! The pool of workers and the queue before it.

use wire::memory::blocks;

use crate::config::draft::Draft;
use crate::config::syntax::value;
use crate::config::table::row::{ANYWHERE, Effect, POOLS, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "StartServers",
        contexts: POOLS,
        takes: Takes::Number(1..=20000, |d, n| d.pool().start = n as u32),
        default: Some("5"),
        because: "httpd's prefork; the others are a fork of a few milliseconds away",
        effect: Effect::Generation,
        about: "Workers forked at the start. Limited by MaxClients.",
        ..ROW
    },
    Row {
        name: "MinSpareServers",
        contexts: POOLS,
        takes: Takes::Number(1..=20000, |d, n| d.pool().min_spare = n as u32),
        default: Some("5"),
        because: "httpd's prefork: enough for a burst while more are forked",
        about: "With fewer idle workers more are forked.",
        ..ROW
    },
    Row {
        name: "MaxSpareServers",
        contexts: POOLS,
        takes: Takes::Number(1..=20000, |d, n| d.pool().max_spare = n as u32),
        default: Some("10"),
        because: "httpd's prefork: twice the minimum keeps the pool from swinging",
        about: "With more idle workers some leave. Taken as MinSpareServers + 1 when it is not above MinSpareServers.",
        ..ROW
    },
    Row {
        name: "MaxClients",
        aliases: &["MaxRequestWorkers"],
        contexts: POOLS,
        takes: Takes::Word("number|auto", max_clients),
        default: Some("256"),
        because: "httpd's prefork; set it to memory divided by the size of a busy worker",
        about: "The most workers at one time, that is: requests in Perl at one time. Connections are not counted, they need no worker. Workers that \
            have left and are still in END blocks come on top, at most as many again. With auto the number follows what workers do: as many as \
            the processors have work for and further ones answer more, within MemoryBudget and up to 512.",
        ..ROW
    },
    Row {
        name: "MaxRequestsPerChild",
        aliases: &["MaxConnectionsPerChild"],
        contexts: POOLS,
        takes: Takes::Word("number|low-high", max_requests),
        default: Some("10000-12000"),
        because: "Perl programs grow; a fork every ten thousand requests costs nothing that can be measured",
        about: "A worker leaves after so many requests and is replaced; 0 is never. Of a range each worker draws its own number, so that \
            they do not leave together.",
        ..ROW
    },
    Row {
        name: "QueueLength",
        contexts: POOLS,
        takes: Takes::Number(1..=1_000_000, |d, n| d.pool().queue_length = n as usize),
        default: Some("4096"),
        because: "as many as ListenBacklog: a burst is served; how long one waits, QueueTimeout bounds",
        about: "Requests that may wait for a worker. More are answered 503 at once.",
        ..ROW
    },
    Row {
        name: "QueueStale",
        contexts: POOLS,
        takes: Takes::Duration(|d, time| d.pool().queue_stale = time),
        default: Some("500ms"),
        because: "a burst is over by then, and people begin to notice",
        about: "When requests wait so long and ever more come, the newest is served first, and those that wait for about as long as a \
            request takes are answered 503 at once, until the overload is over; 0 is never.",
        ..ROW
    },
    Row {
        name: "WireMemory",
        contexts: SERVER,
        takes: Takes::Words("size, 16K to 1M", 1..=1, wire_memory),
        default: Some("1M"),
        because: "an answer of that size leaves its worker at once, at the speed of memory; only what was used once takes any",
        effect: Effect::Generation,
        about: "How much each worker may have for pieces of answers that the front has not sent yet; a worker that has no more waits, as it does for a slow client. Taken in blocks of 16K.",
        ..ROW
    },
    Row {
        name: "QueueTimeout",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().queue_timeout = Some(time)),
        default: Some("30s"),
        because: "people wait no longer, and proxies neither",
        about: "A request that has waited so long for a worker is answered 503 with Retry-After.",
        ..ROW
    },
    Row {
        name: "RequestTimeout",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().request_timeout = Some(time)),
        default: Some("300s"),
        because: "httpd's Timeout for scripts was 300 for decades: reports run that long, loops longer",
        about: "A request that has been in Perl so long is interrupted: the Perl stack is written to the error log, then the program dies \
            and 504 is answered; 0 is never. A program may ask for more time: `$r->extend_timeout(seconds)`. Cleanups \
            behind the answer have the same time for themselves.",
        ..ROW
    },
    Row {
        name: "RequestTimeoutGrace",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().request_timeout_grace = Some(time)),
        default: Some("5s"),
        because: "enough to roll a transaction back; a program that is stuck in C does not get further in a minute",
        about: "How much longer a request that was interrupted may take to end. Then its worker is killed and 504 is answered; 0 is at once.",
        ..ROW
    },
    Row {
        name: "SlowLog",
        contexts: SERVER,
        takes: Takes::Word("time|off", slow_log),
        default: Some("off"),
        because: "what is slow differs from site to site: seconds for a shop, minutes for a report",
        about: "The Perl stack of a request that takes longer is read ten times a second, without disturbing it; when it is over, a line \
            in the error log says where it was, and `cameleer why` shows more.",
        ..ROW
    },
    Row {
        name: "StartTimeout",
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.start = time),
        default: Some("60s"),
        because: "large sites compile for twenty seconds on small machines",
        about: "A generation that has not loaded all its Perl by then has failed; at a reload the old one stays.",
        ..ROW
    },
    Row {
        name: "FrontTimeout",
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.front = time),
        default: Some("20s"),
        because: "nothing that a front does takes a second; a machine that swaps may stop it for some, and a new one costs every \
            connection",
        about: "A front that has not answered the master for so long is replaced; the workers stay. Time in which it waits for a processor \
            does not count, nor does time in which the master or the machine slept, or in which a debugger holds it; 0 is never.",
        ..ROW
    },
    Row {
        name: "GracefulShutdownTimeout",
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.graceful = time),
        default: Some("30s"),
        because: "systemd kills after 90 s, orchestrators after 30",
        about: "How long requests at work may take to end at a graceful stop, in an old generation, and when the front has died, so that nobody \
            waits for them; 0 is as long as they want.",
        ..ROW
    },
];

/// More workers than these are somebody's decision.
const MOST_BY_THEMSELVES: u32 = 512;

fn max_clients(draft: &mut Draft, text: &str) -> Result<(), String> {
    let is_auto = text.eq_ignore_ascii_case("auto");
    if is_auto && !draft.config.more_pools.is_empty() {
        return Err(
            "auto is for a server with one pool of workers, and this one has several: write a number".to_owned()
        );
    }
    let pool = draft.pool();
    pool.auto = is_auto;
    pool.max_clients = match pool.auto {
        true => MOST_BY_THEMSELVES,
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
    if !(1..=blocks::MOST).contains(&blocks) {
        return Err("expected a size from 16K to 1M".to_owned());
    }
    draft.pool().blocks = blocks;
    Ok(())
}

fn slow_log(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.timeouts.slow_log = match word.to_ascii_lowercase().as_str() {
        "off" => None,
        _ => Some(value::duration(word)?),
    };
    Ok(())
}
