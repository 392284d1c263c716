//! Memory: the budget of all processes, what ends a worker, when one becomes the mold.

use std::time::Duration;

use crate::config::draft::Draft;
use crate::config::model::budget::{MemoryBudget, ReforkWhen};
use crate::config::syntax::value;
use crate::config::table::row::{POOLS, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "MemoryBudget",
        contexts: SERVER,
        takes: Takes::Word("size|auto|off", memory_budget),
        default: Some("auto"),
        because: "three quarters of what there is leave room for the page cache and for what else runs",
        about: "How much memory all processes of the server may have together; shared pages count once. No worker is forked that would cross it, MaxClients \
            is lowered to what fits, and when it is reached those that grow leave, the largest first, each when it has no request. `auto` is \
            three quarters of what the control group may have, or of MemAvailable at the start.",
        ..ROW
    },
    Row {
        name: "MaxMemoryPerChild",
        contexts: POOLS,
        takes: Takes::Size(|d, size| d.pool().worker.max_private = positive(size)),
        default: Some("0"),
        because: "MemoryBudget looks after all of them together",
        about: "A worker that has so much private memory leaves after its request; 0 is never. What it shares with the mold does not count.",
        ..ROW
    },
    Row {
        name: "MinSharedPerChild",
        contexts: POOLS,
        takes: Takes::Size(|d, size| d.pool().worker.min_shared = positive(size)),
        default: Some("0"),
        because: "what is no longer shared is private, and that has limits of its own",
        about: "A worker that shares less than this leaves when it has no request; 0 is never.",
        ..ROW
    },
    Row {
        name: "MaxGrowthPerChild",
        contexts: POOLS,
        takes: Takes::Size(|d, size| d.pool().worker.max_growth = positive(size)),
        default: Some("0"),
        because: "most programs grow at first; which growth is too much, the site knows",
        about: "A worker whose private memory has grown by more than this in 1,000 requests leaves when it has no request; 0 is never. The first 1,000 \
            requests do not count.",
        ..ROW
    },
    Row {
        name: "MaxAgePerChild",
        contexts: POOLS,
        takes: Takes::Duration(|d, time| d.pool().worker.max_age = lasting(time)),
        default: Some("0"),
        because: "age alone harms nobody",
        about: "A worker that is so old leaves when it has no request; 0 is never. One at a time.",
        ..ROW
    },
    Row {
        name: "MaxIdlePerChild",
        contexts: POOLS,
        takes: Takes::Duration(|d, time| d.pool().worker.max_idle = lasting(time)),
        default: Some("0"),
        because: "MaxSpareServers bounds how many are idle",
        about: "A worker that has had no request for so long leaves, and MinSpareServers decides whether another takes its place; 0 is never.",
        ..ROW
    },
    Row {
        name: "Refork",
        contexts: POOLS,
        takes: Takes::Word("auto|off|requests[,requests…]", refork),
        default: Some("off"),
        because: "what a worker holds in its variables becomes everybody's: the site must have agreed to that",
        about: "When a worker becomes the mold, so that what its requests have loaded is shared: `auto` when measured memory repays it, or when a \
            worker has answered so many requests, a worker of that mold so many, and so on to the end of the list. `cameleer refork` does it at any time.",
        ..ROW
    },
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
