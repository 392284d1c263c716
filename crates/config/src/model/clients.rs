//! Limits of connections, keep-alive, read timeouts, and spooling.

use crate::model::merge::{keep, settings};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::syntax::value;

/// `FrontThreads`, `MaxConnections` and `MaxConnectionsPerClient`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clients {
    /// `FrontThreads`; `None` is `auto`.
    pub threads: Option<u32>,
    /// `MaxConnections`
    pub connections: u32,
    /// `MaxConnectionsPerClient`; 0 is unlimited.
    pub connections_per_client: u32,
}

/// Maximum number of threads for `FrontThreads auto`.
const AUTO_THREADS: usize = 8;

impl Clients {
    /// Number of threads of the front. `auto` is half of the cores, since workers need the others.
    pub fn threads(&self) -> usize {
        let auto = || (std::thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, AUTO_THREADS);
        self.threads.map_or_else(auto, |threads| threads as usize)
    }
}

/// Temporary files for request bodies, and for responses to slow clients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spooling {
    /// `SpoolDirectory`; `None` is TMPDIR.
    pub folder: Option<PathBuf>,
    /// `SpoolLimit`: bytes of one response.
    pub most: u64,
    /// `SpoolTotalLimit`: bytes of all responses together.
    pub total: u64,
}

settings! {
    /// `KeepAlive`, `KeepAliveTimeout`, `MaxKeepAliveRequests`. `None`: the main server's value.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    host struct KeepAlive {
        /// `KeepAlive`
        pub on: Option<bool>, keep;
        /// `KeepAliveTimeout`
        pub within: Option<Duration>, keep;
        /// `MaxKeepAliveRequests`; 0 is unlimited.
        pub most: Option<u32>, keep;
    }
}

impl KeepAlive {
    /// Whether a connection may carry several requests at all.
    pub fn is_on(&self) -> bool {
        self.on != Some(false)
    }

    /// Time after which an idle connection is closed.
    pub fn within(&self) -> Duration {
        self.within.unwrap_or_default()
    }

    /// Whether a connection has reached the maximum number of requests.
    pub fn is_enough(&self, requests: u32) -> bool {
        self.most.is_some_and(|most| most != 0 && requests >= most)
    }
}

settings! {
    /// `RequestReadTimeout`. `None`: the main server's value.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    host struct ReadTimeouts {
        /// Pace of the TLS handshake.
        pub handshake: Option<ReceivePace>, keep;
        /// Pace of a request's head.
        pub header: Option<ReceivePace>, keep;
        /// Pace of a request's body.
        pub body: Option<ReceivePace>, keep;
    }
}

/// `20-40,MinRate=500`: 20 seconds, extended by one for each 500 bytes received, up to 40.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceivePace {
    /// Initial time; zero is unlimited.
    pub within: Duration,
    /// Maximum time, including extensions.
    pub at_most: Option<Duration>,
    /// Bytes that extend the time by a second.
    pub rate: Option<NonZeroU32>,
}

impl ReadTimeouts {
    /// Parses `header=20-40,MinRate=500`. A later word for the same stage replaces an earlier one.
    pub fn read(&mut self, word: &str) -> Result<(), String> {
        let (stage, pace) = word.split_once('=').ok_or_else(|| wrong(word))?;
        let stage = match stage.to_ascii_lowercase().as_str() {
            "handshake" => &mut self.handshake,
            "header" => &mut self.header,
            "body" => &mut self.body,
            _ => return Err(wrong(word)),
        };
        *stage = Some(ReceivePace::read(pace)?);
        Ok(())
    }
}

fn wrong(word: &str) -> String {
    format!("expected header=, body= or handshake= with a time, like header=20-40,MinRate=500, got \"{word}\"")
}

impl ReceivePace {
    fn read(text: &str) -> Result<ReceivePace, String> {
        let (times, rate) = match text.split_once(',') {
            Some((times, rate)) => (times, Some(min_rate(rate)?)),
            None => (text, None),
        };
        let (within, at_most) = match times.split_once('-') {
            Some((within, at_most)) => (value::duration(within)?, Some(value::duration(at_most)?)),
            None => (value::duration(times)?, None),
        };
        if at_most.is_some_and(|most| most < within) {
            return Err(format!("expected the second time to be the longer one, got \"{times}\""));
        }
        if at_most.is_some() && rate.is_none() {
            return Err(format!("a second time needs a rate; write {times},MinRate=500"));
        }
        Ok(ReceivePace { within, at_most, rate })
    }

    /// Deadline of a client that began at `begun` and has sent `bytes` since. `None`: no deadline.
    pub fn deadline(&self, begun: Instant, bytes: u64) -> Option<Instant> {
        if self.within.is_zero() {
            return None;
        }
        let earned = self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs(bytes / u64::from(rate.get())));
        let allowed = self.within.saturating_add(earned).min(self.at_most.unwrap_or(Duration::MAX));
        begun.checked_add(allowed)
    }
}

fn min_rate(text: &str) -> Result<NonZeroU32, String> {
    let rate = text.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("MinRate"));
    let rate = rate.and_then(|(_, rate)| rate.parse().ok());
    rate.ok_or_else(|| format!("expected MinRate= with bytes per second, like MinRate=500, got \"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<ReadTimeouts, String> {
        let mut timeouts = ReadTimeouts::default();
        words.iter().try_for_each(|word| timeouts.read(word))?;
        Ok(timeouts)
    }

    #[test]
    fn httpds_notations_are_parsed() {
        let timeouts = read(&["header=20-40,MinRate=500", "Body=1m,minrate=100", "handshake=0"]).expect("understood");
        let pace = |within, at_most: Option<u64>, rate| ReceivePace {
            within: Duration::from_secs(within),
            at_most: at_most.map(Duration::from_secs),
            rate: NonZeroU32::new(rate),
        };
        assert_eq!(timeouts.header, Some(pace(20, Some(40), 500)));
        assert_eq!(timeouts.body, Some(pace(60, None, 100)));
        assert_eq!(timeouts.handshake, Some(ReceivePace::default()));
    }

    #[test]
    fn an_impossible_combination_is_refused() {
        for word in
            ["20", "head=20", "header=x", "header=40-20,MinRate=1", "header=20-40", "body=20,MinRate=0", "body=20,500"]
        {
            assert!(read(&[word]).is_err(), "{word}");
        }
    }

    #[test]
    fn bytes_extend_the_time_up_to_the_maximum() {
        let pace = read(&["header=20-40,MinRate=500"]).expect("understood").header.expect("a pace");
        let begun = Instant::now();
        let allowed = |bytes| pace.deadline(begun, bytes).expect("a deadline") - begun;
        assert_eq!(allowed(499), Duration::from_secs(20));
        assert_eq!(allowed(5000), Duration::from_secs(30));
        assert_eq!(allowed(1 << 40), Duration::from_secs(40));
        assert_eq!(ReceivePace::default().deadline(begun, 0), None);
    }

    #[test]
    fn a_host_overrides_only_the_stages_that_it_sets() {
        let mut host = read(&["body=5"]).expect("understood");
        host.inherit(&read(&["body=20", "header=10"]).expect("understood"));
        assert_eq!(host, read(&["body=5", "header=10"]).expect("understood"));
    }
}
