//! Memory: the budget of all processes, the limits of a worker, and when a worker becomes the mold.

use std::time::Duration;

use crate::draft::Draft;
use crate::model::budget::{MemoryBudget, ReforkWhen};
use crate::syntax::value;
use crate::table::row::{POOLS, Row, SERVER, duration, rows, size, word};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    word("MemoryBudget", SERVER, "size|auto|off", memory_budget)
        .default("auto", "the remaining quarter is for the page cache and for other programs"),
    "Memory of all processes of the server together; shared pages count once. No worker is forked that would exceed \
     the budget, and MaxClients is lowered to fit. When the budget is reached, growing workers exit when they have no \
     request, the largest first. `auto` is three quarters of the control group's limit, or of MemAvailable at the \
     start.",
    size("MaxMemoryPerChild", POOLS, |d, size| d.pool().worker.max_private = positive(size))
        .default("0", "MemoryBudget limits all workers together"),
    "A worker with this much private memory exits after its request; 0 is never. Memory shared with the mold does not \
     count.",
    size("MinSharedPerChild", POOLS, |d, size| d.pool().worker.min_shared = positive(size))
        .default("0", "memory that is no longer shared becomes private, and private memory has its own limits"),
    "A worker that shares less memory than this exits when it has no request; 0 is never.",
    size("MaxGrowthPerChild", POOLS, |d, size| d.pool().worker.max_growth = positive(size))
        .default("0", "most programs grow at first; only the site knows how much growth is too much"),
    "A worker whose private memory grew by more than this in 1,000 requests exits when it has no request; 0 is never. \
     The first 1,000 requests do not count.",
    duration("MaxAgePerChild", POOLS, |d, time| d.pool().worker.max_age = lasting(time))
        .default("0", "age alone does no harm"),
    "A worker of this age exits when it has no request, one worker at a time; 0 is never.",
    duration("MaxIdlePerChild", POOLS, |d, time| d.pool().worker.max_idle = lasting(time))
        .default("0", "MaxSpareServers limits the number of idle workers"),
    "A worker without a request for this long exits, and MinSpareServers decides whether it is replaced; 0 is never.",
    word("Refork", POOLS, "auto|off|requests[,requests…]", refork)
        .default("off", "variables of the promoted worker become visible to all others: the site must allow that"),
    "When a worker becomes the mold, so that all workers share what its requests loaded. `auto`: when measured memory \
     savings repay it. A list: after this many requests of a worker, then of a worker of that mold, and so on. \
     `cameleer refork` does it at any time.",
];

fn positive(size: u64) -> Option<u64> {
    (size > 0).then_some(size)
}

fn lasting(time: Duration) -> Option<Duration> {
    (!time.is_zero()).then_some(time)
}

fn memory_budget(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.pool.budget = match word.to_ascii_lowercase().as_str() {
        "auto" => MemoryBudget::Auto,
        "off" => MemoryBudget::Off,
        _ => match value::size(word)? {
            0 => return Err("expected a size, auto or off, got 0".to_owned()),
            bytes => MemoryBudget::Bytes(bytes),
        },
    };
    Ok(())
}

fn refork(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.pool().refork =
        match word.to_ascii_lowercase().as_str() {
            "auto" => ReforkWhen::Auto,
            "off" => ReforkWhen::Off,
            _ => ReforkWhen::After(requests(word).ok_or_else(|| {
                format!("expected auto, off or numbers of requests such as 50,100,1000, got \"{word}\"")
            })?),
        };
    Ok(())
}

fn requests(word: &str) -> Option<Vec<u64>> {
    word.split(',').map(|number| number.trim().parse().ok().filter(|requests| *requests > 0)).collect()
}
