//! Derives directives from the measurements: present value, new value, and reason.

use serde::Serialize;

use super::compare::{Burst, DirectiveComparison};
use super::site::TunedSite;
use toolkit::units::size;

/// Growth per 1,000 requests below which a worker counts as constant, in bytes.
const NO_GROWTH: i64 = 64 << 10;
/// Minimum of MaxRequestsPerChild: more frequent forks, which take milliseconds, would be noticeable.
const MIN_REQUESTS: u64 = 500;
/// Minimum gain in the first moments for which a pool starts with all its workers.
const WORTH_IT: f64 = 1.1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DirectiveChange {
    pub directive: &'static str,
    /// Present value.
    pub from: String,
    /// New value.
    pub to: String,
    /// Position, such as `site.conf:12`; `None`: the directive is not in the configuration.
    pub at: Option<String>,
    /// Reason, as a sentence.
    pub why: String,
}

/// Measurements from which the changes are derived.
pub struct Findings<'f> {
    pub site: &'f TunedSite,
    /// Number of workers found by the search.
    pub workers: u32,
    /// Requests per second with this number.
    pub rate: f64,
    /// Reason for this number, as a sentence.
    pub reason: String,
    /// Result of all visitors arriving at once.
    pub burst: Option<Burst>,
    /// Growth of a worker per 1,000 requests, in bytes.
    pub growth: Option<i64>,
    /// Bytes that each worker may grow before the memory limit is reached.
    pub room: u64,
    /// Results of other compared directives.
    pub compared: &'f [DirectiveComparison],
}

impl Findings<'_> {
    /// All directives whose value changes.
    pub fn changes(&self) -> Vec<DirectiveChange> {
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

    /// StartServers, MinSpareServers, MaxSpareServers: at most the number of workers, and all of them if the burst
    /// was faster that way.
    fn pool(&self) -> Vec<DirectiveChange> {
        let pool = &self.site.config.pool;
        let all = self.burst.is_some_and(|burst| burst.then > burst.now * WORTH_IT);
        let now =
            [("StartServers", pool.start), ("MinSpareServers", pool.min_spare), ("MaxSpareServers", pool.max_spare)];
        let why = match self.burst {
            Some(burst) if all => format!(
                "when all visitors arrived at once, {:.0} requests per second were answered in the first {} s, and {:.0} with all workers started",
                burst.now, burst.seconds, burst.then
            ),
            _ => format!("MaxClients {} is the maximum", self.workers),
        };
        let to = |now: u32| if all { self.workers } else { now.min(self.workers) };
        now.into_iter().map(|(name, now)| self.number(name, now, to(now), &why)).collect()
    }

    /// QueueLength: requests that would exceed QueueTimeout need not be queued.
    fn queue(&self) -> Option<DirectiveChange> {
        let now = self.site.config.pool.queue_length;
        let timeout = self.site.queue_timeout();
        let in_time = (self.rate * timeout.as_secs_f64()).ceil().max(f64::from(self.workers));
        let why = format!(
            "{:.0} requests per second are answered; a longer queue would exceed QueueTimeout ({} s)",
            self.rate,
            timeout.as_secs()
        );
        (in_time < now as f64 && self.rate > 0.0)
            .then(|| self.change("QueueLength", now.to_string(), (in_time as u64).to_string(), &why))
    }

    /// MaxRequestsPerChild, if workers grow: they end before the memory limit is reached.
    fn requests(&self) -> Option<DirectiveChange> {
        let growth = self.growth.filter(|growth| *growth >= NO_GROWTH)?.unsigned_abs();
        let most = (self.room.saturating_mul(1000) / growth).max(MIN_REQUESTS);
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

    fn compared(&self) -> impl Iterator<Item = DirectiveChange> {
        self.compared.iter().filter(|compared| compared.is_a_gain()).map(|compared| {
            let gain = (compared.ratio.unwrap_or(1.0) - 1.0) * 100.0;
            let why = format!("{gain:.1} % more requests per second with equal responses; {}", compared.about);
            self.change(compared.name, compared.from.clone(), compared.to.to_owned(), &why)
        })
    }

    fn number(&self, directive: &'static str, from: u32, to: u32, why: &str) -> DirectiveChange {
        self.change(directive, from.to_string(), to.to_string(), why)
    }

    fn change(&self, directive: &'static str, from: String, to: String, why: &str) -> DirectiveChange {
        DirectiveChange { directive, from, to, at: self.site.place_of(directive), why: why.to_owned() }
    }
}

/// Rounds down to two significant digits.
fn round_down(number: u64) -> u64 {
    let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(1));
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_down_to_two_digits() {
        for (number, expected) in [(0, 0), (7, 7), (99, 99), (512, 510), (12_999, 12_000)] {
            assert_eq!(round_down(number), expected);
        }
    }
}
