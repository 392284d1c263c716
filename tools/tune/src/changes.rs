//! From what was measured to directives: what each says now, what it should say, and why.

use serde::Serialize;

use super::compare::{Burst, Compared};
use super::site::Site;
use toolkit::units::size;

/// A worker that grows by less in 1,000 requests does not grow.
const NO_GROWTH: i64 = 64 << 10;
/// A fork costs a few milliseconds: more often than this it is seen.
const FEWEST_REQUESTS: u64 = 500;
/// A pool that starts with all its workers must answer so many times as much in the first moments, or it is left as it is.
const WORTH_IT: f64 = 1.1;

/// A directive to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name.
    pub directive: &'static str,
    /// What it says.
    pub from: String,
    /// What it should say.
    pub to: String,
    /// `site.conf:12`; nothing where it is not written.
    pub at: Option<String>,
    /// In a sentence.
    pub why: String,
}

/// What the changes are made from.
pub struct Findings<'f> {
    /// The site as it is.
    pub site: &'f Site,
    /// So many workers it should have.
    pub workers: u32,
    /// They answer so many requests a second.
    pub rate: f64,
    /// Why so many, in a sentence.
    pub reason: String,
    /// What was seen when all came at once.
    pub burst: Option<Burst>,
    /// By how much a thousand requests make a worker grow.
    pub growth: Option<i64>,
    /// By how much each worker may grow before the memory is used up.
    pub room: u64,
    /// What else was compared.
    pub compared: &'f [Compared],
}

impl Findings<'_> {
    /// Those that change something.
    pub fn changes(&self) -> Vec<Change> {
        let pool = &self.site.config.pool;
        let now = if pool.auto { "auto".to_owned() } else { pool.max_clients.to_string() };
        let mut changes = vec![self.change("MaxClients", now, self.workers.to_string(), &self.reason)];
        changes.extend(self.pool());
        changes.extend(self.queue());
        changes.extend(self.requests());
        changes.extend(self.compared());
        changes.retain(|change| change.from != change.to);
        changes
    }

    /// StartServers and its kin: never more than there are, and all of them where that was seen to help.
    fn pool(&self) -> Vec<Change> {
        let pool = &self.site.config.pool;
        let all = self.burst.is_some_and(|burst| burst.then > burst.now * WORTH_IT);
        let now =
            [("StartServers", pool.start), ("MinSpareServers", pool.min_spare), ("MaxSpareServers", pool.max_spare)];
        let why = match self.burst {
            Some(burst) if all => format!(
                "when all visitors came at once, {:.0} were answered a second in the first {} s, and {:.0} with all workers there",
                burst.now, burst.seconds, burst.then
            ),
            _ => format!("more than MaxClients {} cannot be", self.workers),
        };
        let to = |now: u32| if all { self.workers } else { now.min(self.workers) };
        now.into_iter().map(|(name, now)| self.number(name, now, to(now), &why)).collect()
    }

    /// Who cannot be answered before QueueTimeout need not wait for that.
    fn queue(&self) -> Option<Change> {
        let now = self.site.config.pool.queue_length;
        let timeout = self.site.queue_timeout();
        let in_time = (self.rate * timeout.as_secs_f64()).ceil().max(f64::from(self.workers));
        let why = format!(
            "{:.0} requests are answered a second, so that more than these wait longer than QueueTimeout ({} s)",
            self.rate,
            timeout.as_secs()
        );
        (in_time < now as f64 && self.rate > 0.0)
            .then(|| self.change("QueueLength", now.to_string(), (in_time as u64).to_string(), &why))
    }

    /// Where workers grow: an end before the memory is used up.
    fn requests(&self) -> Option<Change> {
        let growth = self.growth.filter(|growth| *growth >= NO_GROWTH)?.unsigned_abs();
        let most = (self.room.saturating_mul(1000) / growth).max(FEWEST_REQUESTS);
        let to = round_down(most);
        let now = &self.site.config.pool.max_requests;
        let is_less = *now.end() == 0 || to < *now.end();
        let why = format!(
            "a worker grows by {} in 1,000 requests, and there is room for {} more in each",
            size(growth),
            size(self.room)
        );
        let from =
            if now.start() == now.end() { now.start().to_string() } else { format!("{}-{}", now.start(), now.end()) };
        is_less.then(|| self.change("MaxRequestsPerChild", from, format!("{}-{to}", to - to / 10), &why))
    }

    fn compared(&self) -> impl Iterator<Item = Change> {
        self.compared.iter().filter(|compared| compared.is_a_gain()).map(|compared| {
            let gain = (compared.ratio.unwrap_or(1.0) - 1.0) * 100.0;
            let why = format!("{gain:.1} % more requests a second, the same answers; {}", compared.about);
            self.change(compared.name, compared.from.clone(), compared.to.to_owned(), &why)
        })
    }

    fn number(&self, directive: &'static str, from: u32, to: u32, why: &str) -> Change {
        self.change(directive, from.to_string(), to.to_string(), why)
    }

    fn change(&self, directive: &'static str, from: String, to: String, why: &str) -> Change {
        Change { directive, from, to, at: self.site.place_of(directive), why: why.to_owned() }
    }
}

/// Two digits that matter.
fn round_down(number: u64) -> u64 {
    let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(1));
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_matter() {
        for (number, expected) in [(0, 0), (7, 7), (99, 99), (512, 510), (12_999, 12_000)] {
            assert_eq!(round_down(number), expected);
        }
    }
}
