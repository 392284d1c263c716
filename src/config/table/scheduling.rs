//! Who gets a worker when there are not enough.

use crate::config::draft::Draft;
use crate::config::model::access::Network;
use crate::config::model::scheduling::{PoolShare, Rate, ShareSize, SpeedLimit};
use crate::config::syntax::value;
use crate::config::table::row::{ANYWHERE, Contexts, MANY, ROW, Row, SERVER, Takes, places};

/// The main server's share would be the pool.
const PARTS: Contexts = places(ANYWHERE.places & !SERVER.places);

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "PoolShare",
        contexts: PARTS,
        takes: Takes::Word("percent|number", pool_share),
        because: "every part of the site may use the whole pool",
        about: "Requests of the section have at most so many workers at one time, a percentage of MaxClients or a number; the others stay \
            free for the rest of the site. More requests wait, in as large a part of the queue, without holding up others.",
        ..ROW
    },
    Row {
        name: "SpeedLimit",
        contexts: ANYWHERE,
        takes: Takes::Words("[requests=number/duration] [worker-seconds=number/duration]|Off", 1..=2, speed_limit),
        because: "what is too fast depends on the site",
        about: "One client (an IPv4 address, an IPv6 /64) may ask for so many requests, and make workers work for so long, in such a time. \
            One more is answered 429 with Retry-After, and takes no worker. What the front answers alone, such as files, does not count.",
        ..ROW
    },
    Row {
        name: "SpeedLimitExempt",
        contexts: ANYWHERE,
        takes: Takes::Words("network…|None", 1..=MANY, exempt),
        because: "SpeedLimit holds for everybody",
        about: "Addresses and networks for which SpeedLimit does not hold: your own proxies and monitors.",
        ..ROW
    },
];

/// `PoolShare 30%`, `PoolShare 4`
fn pool_share(draft: &mut Draft, text: &str) -> Result<(), String> {
    let wrong = || format!("expected a part of MaxClients like 30%, or a number of workers, got \"{text}\"");
    let size = match text.strip_suffix('%') {
        Some(percent) => ShareSize::Percent(value::number(percent, &(1..=100)).map_err(|_| wrong())? as u32),
        None => ShareSize::Workers(value::number(text, &(1..=20_000)).map_err(|_| wrong())? as u32),
    };
    let share = PoolShare { id: draft.next_count(), place: draft.section_name(), size };
    draft.said().scheduling.share = Some(share);
    Ok(())
}

/// `SpeedLimit requests=100/60s worker-seconds=20/60s`, `SpeedLimit Off`
fn speed_limit(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    if let [word] = words
        && word.eq_ignore_ascii_case("Off")
    {
        draft.said().scheduling.speed = Some(None);
        return Ok(());
    }
    let mut limit = SpeedLimit { id: draft.next_count(), requests: None, worker_seconds: None };
    for word in words {
        let (place, text) = match word.split_once('=') {
            Some((name, text)) if name.eq_ignore_ascii_case("requests") => (&mut limit.requests, text),
            Some((name, text)) if name.eq_ignore_ascii_case("worker-seconds") => (&mut limit.worker_seconds, text),
            _ => {
                return Err(format!(
                    "expected requests=number/duration, worker-seconds=number/duration or Off, got \"{word}\""
                ));
            }
        };
        *place = Some(rate(text)?);
    }
    draft.said().scheduling.speed = Some(Some(limit));
    Ok(())
}

fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || format!("expected a number and a duration like 100/60s, got \"{text}\"");
    let (amount, period) = text.split_once('/').ok_or_else(wrong)?;
    let amount = value::number(amount, &(1..=1_000_000)).map_err(|_| wrong())? as u32;
    match value::duration(period) {
        Ok(period) if !period.is_zero() => Ok(Rate { amount, period }),
        _ => Err(wrong()),
    }
}

/// `SpeedLimitExempt 10.0.0.0/8 ::1`, `SpeedLimitExempt None`
fn exempt(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let none = words.len() == 1 && words[0].eq_ignore_ascii_case("None");
    let network = |word: &String| {
        let name = || Err(format!("expected addresses or networks like 10.0.0.0/8, or None, got \"{word}\""));
        Network::parse(word).unwrap_or_else(name)
    };
    let networks = if none { Vec::new() } else { words.iter().map(network).collect::<Result<_, _>>()? };
    draft.said().scheduling.exempt = Some(networks);
    Ok(())
}
