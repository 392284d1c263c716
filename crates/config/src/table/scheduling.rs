//! Sharing workers among parts of the site and among clients.

use crate::draft::Draft;
use crate::model::scheduling::{PoolShare, Rate, ShareSize, SpeedLimit};
use crate::syntax::value;
use crate::syntax::value::network::Network;
use crate::table::row::{ANYWHERE, Contexts, MANY, Row, SERVER, places, rows, word, words};

/// All contexts except the main server, whose share would be the whole pool.
const PARTS: Contexts = places(ANYWHERE.places & !SERVER.places);

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    word("PoolShare", PARTS, "percent|number", pool_share).because("every part of the site may use the whole pool"),
    "Maximum number of workers for requests of this section at the same time: a percentage of MaxClients, or a number. \
     Further requests wait in a proportional part of the queue, without delaying other parts of the site.",
    words(
        "SpeedLimit",
        ANYWHERE,
        "[requests=number/duration] [worker-seconds=number/duration]|Off",
        1..=2,
        speed_limit
    )
    .because("only the site knows how fast is too fast"),
    "Maximum number of requests, and of seconds of worker time, in a period, for one client (an IPv4 address, an IPv6 \
     /64). Further requests are answered 429 with Retry-After and use no worker. Responses of the front alone, such as \
     files, do not count.",
    words("SpeedLimitExempt", ANYWHERE, "network…|None", 1..=MANY, exempt)
        .because("SpeedLimit applies to every client"),
    "Addresses and networks that SpeedLimit does not limit: your own proxies and monitors.",
];

/// `PoolShare 30%`, `PoolShare 4`
fn pool_share(draft: &mut Draft, text: &str) -> Result<(), String> {
    let wrong = || format!("expected a part of MaxClients like 30%, or a number of workers, got \"{text}\"");
    let size = match text.strip_suffix('%') {
        Some(percent) => ShareSize::Percent(value::number(percent, &(1..=100)).map_err(|_| wrong())? as u32),
        None => ShareSize::Workers(value::number(text, &(1..=20_000)).map_err(|_| wrong())? as u32),
    };
    let share = PoolShare { id: draft.next_count(), place: draft.section_name(), size };
    draft.settings().scheduling.share = Some(share);
    Ok(())
}

/// `SpeedLimit requests=100/60s worker-seconds=20/60s`, `SpeedLimit Off`
fn speed_limit(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    if let [word] = words
        && word.eq_ignore_ascii_case("Off")
    {
        draft.settings().scheduling.speed = Some(None);
        return Ok(());
    }
    let mut limit =
        SpeedLimit { id: draft.next_count(), place: draft.limit_place(), requests: None, worker_seconds: None };
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
    draft.settings().scheduling.speed = Some(Some(limit));
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
    draft.settings().scheduling.exempt = Some(networks);
    Ok(())
}
