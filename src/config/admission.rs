//! Who gets a worker when there are not enough: `PoolShare`, `SpeedLimit`, `SpeedLimitExempt`.

use std::time::Duration;

use super::access::Network;
use super::draft::Draft;
use super::value;

/// What one section says; `None`: nothing, keep what was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// `PoolShare`
    pub share: Option<PoolShare>,
    /// `SpeedLimit`; `Some(None)` is Off.
    pub speed: Option<Option<SpeedLimit>>,
    /// `SpeedLimitExempt`
    pub exempt: Option<Vec<Network>>,
}

/// What all sections of a request say together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// Default: none, the whole pool.
    pub share: Option<PoolShare>,
    /// Default: none.
    pub speed: Option<SpeedLimit>,
    /// Clients that may ask as fast as they like.
    pub exempt: Vec<Network>,
}

/// `PoolShare`: a part of the pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolShare {
    /// Requests of one line share; every line has a number of its own.
    pub id: u32,
    /// The section where it stands, for a status.
    pub place: String,
    /// How large it is.
    pub size: ShareSize,
}

/// The size of a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShareSize {
    /// Of MaxClients.
    Percent(u32),
    /// So many.
    Workers(u32),
}

/// `SpeedLimit`: what one client may ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedLimit {
    /// Requests of one line are counted together; every line has a number of its own.
    pub id: u32,
    /// Requests.
    pub requests: Option<Rate>,
    /// Seconds that workers work for it.
    pub worker_seconds: Option<Rate>,
}

/// So much in so long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// How much.
    pub amount: u32,
    /// In how long.
    pub period: Duration,
}

impl Rules {
    pub(super) fn merge(&mut self, said: &Said) {
        if let Some(share) = &said.share {
            self.share = Some(share.clone());
        }
        if let Some(speed) = said.speed {
            self.speed = speed;
        }
        if let Some(exempt) = &said.exempt {
            self.exempt.clone_from(exempt);
        }
    }
}

impl ShareSize {
    /// How many workers it is; at least one.
    pub fn of(self, workers: u32) -> u32 {
        match self {
            ShareSize::Percent(percent) => (u64::from(workers) * u64::from(percent)).div_ceil(100).max(1) as u32,
            ShareSize::Workers(count) => count.min(workers),
        }
    }
}

impl std::fmt::Display for SpeedLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rates = [("requests", self.requests), ("worker-seconds", self.worker_seconds)];
        let words = rates.iter().filter_map(|(name, rate)| rate.map(|rate| format!("{name}={rate}")));
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.period.subsec_millis() {
            0 => write!(f, "{}/{}s", self.amount, self.period.as_secs()),
            _ => write!(f, "{}/{}ms", self.amount, self.period.as_millis()),
        }
    }
}

/// `PoolShare 30%`, `PoolShare 4`
pub(super) fn pool_share(draft: &mut Draft, text: &str) -> Result<(), String> {
    let wrong = || format!("expected a part of MaxClients like 30%, or a number of workers, got \"{text}\"");
    let size = match text.strip_suffix('%') {
        Some(percent) => ShareSize::Percent(value::number(percent, &(1..=100)).map_err(|_| wrong())? as u32),
        None => ShareSize::Workers(value::number(text, &(1..=20_000)).map_err(|_| wrong())? as u32),
    };
    let share = PoolShare { id: draft.next_count(), place: draft.place(), size };
    draft.said().admission.share = Some(share);
    Ok(())
}

/// `SpeedLimit requests=100/60s worker-seconds=20/60s`, `SpeedLimit Off`
pub(super) fn speed_limit(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    if let [word] = words
        && word.eq_ignore_ascii_case("Off")
    {
        draft.said().admission.speed = Some(None);
        return Ok(());
    }
    let mut limit = SpeedLimit { id: draft.next_count(), requests: None, worker_seconds: None };
    for word in words {
        let (rate, text) = match word.split_once('=') {
            Some((name, text)) if name.eq_ignore_ascii_case("requests") => (&mut limit.requests, text),
            Some((name, text)) if name.eq_ignore_ascii_case("worker-seconds") => (&mut limit.worker_seconds, text),
            _ => {
                return Err(format!(
                    "expected requests=number/duration, worker-seconds=number/duration or Off, got \"{word}\""
                ));
            }
        };
        *rate = Some(self::rate(text)?);
    }
    draft.said().admission.speed = Some(Some(limit));
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
pub(super) fn exempt(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let none = words.len() == 1 && words[0].eq_ignore_ascii_case("None");
    let network = |word: &String| {
        let name = || Err(format!("expected addresses or networks like 10.0.0.0/8, or None, got \"{word}\""));
        Network::parse(word).unwrap_or_else(name)
    };
    let networks = if none { Vec::new() } else { words.iter().map(network).collect::<Result<_, _>>()? };
    draft.said().admission.exempt = Some(networks);
    Ok(())
}
