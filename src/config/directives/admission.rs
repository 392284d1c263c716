//! Who gets a worker when there are not enough.

use super::super::admission;
use super::{ANYWHERE, Contexts, Effect, MANY, Row, SERVER, Takes, places};

/// The main server's share would be the pool.
const PARTS: Contexts = places(ANYWHERE.places & !SERVER.places);

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "PoolShare",
        aliases: &[],
        contexts: PARTS,
        takes: Takes::Word("percent|number", admission::pool_share),
        default: None,
        because: "every part of the site may use the whole pool",
        effect: Effect::Reload,
        about: "Requests of the section have at most so many workers at one time, a percentage of MaxClients or a number; the others stay \
            free for the rest of the site. More requests wait, in as large a part of the queue, without holding up others.",
    },
    Row {
        name: "SpeedLimit",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words(
            "[requests=number/duration] [worker-seconds=number/duration]|Off",
            1..=2,
            admission::speed_limit,
        ),
        default: None,
        because: "what is too fast depends on the site",
        effect: Effect::Reload,
        about: "One client (an IPv4 address, an IPv6 /64) may ask for so many requests, and make workers work for so long, in such a time. \
            One more is answered 429 with Retry-After, and takes no worker. What the front answers alone, such as files, does not count.",
    },
    Row {
        name: "SpeedLimitExempt",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("network…|None", 1..=MANY, admission::exempt),
        default: None,
        because: "SpeedLimit holds for everybody",
        effect: Effect::Reload,
        about: "Addresses and networks for which SpeedLimit does not hold: your own proxies and monitors.",
    },
];
