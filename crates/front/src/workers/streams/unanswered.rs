//! The requests of an event worker that wait for their responses.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::workers::scheduler::RequestTimeouts;
use crate::workers::submitted::Label;

/// Number of requests in a line of a log or of the status.
const SHOWN: usize = 5;

/// The requests of a worker whose response has not begun.
#[derive(Debug, Default)]
pub struct AwaitedRequests {
    requests: BTreeMap<u64, (Label, RequestTimeouts)>,
    /// Requests have numbers from 1 on, in the order in which they came.
    last: u64,
    /// A task watches the loop.
    pub is_watched: bool,
}

impl AwaitedRequests {
    /// Adds a request. Returns its number.
    pub fn add(&mut self, label: Label, timeouts: RequestTimeouts) -> u64 {
        self.last += 1;
        self.requests.insert(self.last, (label, timeouts));
        self.last
    }

    /// Removes a request whose response has begun, or is not waited for any more.
    pub fn remove(&mut self, number: u64) {
        self.requests.remove(&number);
    }

    /// The longest timeouts: a request may block as long as its own place allows.
    pub fn timeouts(&self) -> Option<RequestTimeouts> {
        self.requests.values().map(|(_, timeouts)| *timeouts).max_by_key(run)
    }

    /// Some of the requests, for the status; empty if there are none.
    pub fn listed(&self) -> String {
        let mut named = NamedRequests::default();
        named.add(self);
        named.to_string()
    }
}

/// Names of requests, for a line of a log or of the status.
#[derive(Default)]
pub struct NamedRequests {
    names: Vec<String>,
    /// Number of the requests that are not named.
    more: usize,
    /// Number of the last request, as in [`AwaitedRequests`].
    last: u64,
}

impl NamedRequests {
    /// Adds the requests that came after those that are known.
    pub fn add(&mut self, unanswered: &AwaitedRequests) {
        for (number, (label, _)) in unanswered.requests.range(self.last + 1..) {
            match self.names.len() < SHOWN {
                true => self.names.push(label.shown()),
                false => self.more += 1,
            }
            self.last = *number;
        }
    }
}

impl fmt::Display for NamedRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(", "))?;
        if self.more > 0 { write!(f, " and {} more", self.more) } else { Ok(()) }
    }
}

/// `RequestTimeout`; zero is unlimited.
pub fn run(timeouts: &RequestTimeouts) -> Duration {
    if timeouts.run.is_zero() { Duration::MAX } else { timeouts.run }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unanswered(count: u64) -> AwaitedRequests {
        let second = Duration::from_secs(1);
        let timeouts = RequestTimeouts { queue: second, run: second, most: second, grace: second };
        let mut unanswered = AwaitedRequests::default();
        for n in 0..count {
            let client = std::net::Ipv4Addr::LOCALHOST.into();
            let label =
                Label { host: 0, method: http::Method::GET, target: format!("/{n}").into_bytes().into(), client };
            unanswered.add(label, timeouts);
        }
        unanswered
    }

    #[test]
    fn a_line_names_some_of_the_requests() {
        assert_eq!(unanswered(7).listed(), "GET /0, GET /1, GET /2, GET /3, GET /4 and 2 more");
        assert_eq!(unanswered(1).listed(), "GET /0");
    }
}
