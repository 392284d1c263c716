//! Subscriptions of other servers, as they report them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time after which a count that was not reported again does not count.
const LIFE: Duration = Duration::from_secs(30);
/// Maximum number of servers.
const MAX_NODES: usize = 1000;
/// Maximum number of channels of all servers.
const MAX_COUNTS: usize = 1_000_000;

/// The last reports of other servers.
#[derive(Debug, Default)]
pub struct Nodes {
    nodes: HashMap<u64, Node>,
    /// Sum of the channels of all nodes, limited by [`MAX_COUNTS`].
    counts: usize,
}

#[derive(Debug)]
struct Node {
    reported: Instant,
    channels: HashMap<Box<[u8]>, (u32, Instant)>,
}

impl Nodes {
    /// Applies a report. Returns whether the server was unknown.
    pub fn report(&mut self, node: u64, counts: &[(&[u8], u32)], now: Instant) -> bool {
        let is_new = !self.nodes.contains_key(&node);
        if is_new && self.nodes.len() >= MAX_NODES {
            return false;
        }
        let known = self.nodes.entry(node).or_insert_with(|| Node { reported: now, channels: HashMap::new() });
        known.reported = now;
        let before = known.channels.len();
        for (channel, count) in counts {
            if *count == 0 {
                known.channels.remove(*channel);
            } else if let Some(counted) = known.channels.get_mut(*channel) {
                *counted = (*count, now);
            } else if self.counts + known.channels.len().saturating_sub(before) < MAX_COUNTS {
                known.channels.insert((*channel).into(), (*count, now));
            }
        }
        self.counts = self.counts.saturating_sub(before) + known.channels.len();
        is_new
    }

    /// Forgets what was not reported for a while.
    pub fn expire(&mut self, now: Instant) {
        let is_current = |at: Instant| now.saturating_duration_since(at) <= LIFE;
        self.nodes.retain(|_, node| is_current(node.reported));
        for node in self.nodes.values_mut() {
            node.channels.retain(|_, (_, at)| is_current(*at));
        }
        self.counts = self.nodes.values().map(|node| node.channels.len()).sum();
    }

    /// Number of subscriptions to a channel.
    pub fn presence(&self, channel: &[u8], now: Instant) -> u64 {
        let counts = self.nodes.values().filter_map(|node| node.channels.get(channel));
        let current = counts.filter(|(_, at)| now.saturating_duration_since(*at) <= LIFE);
        current.map(|(count, _)| u64::from(*count)).sum()
    }

    /// Number of servers that have reported lately.
    pub fn count(&self, now: Instant) -> u64 {
        self.nodes.values().filter(|node| now.saturating_duration_since(node.reported) <= LIFE).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    /// Names come from other servers: without a seed, they could be chosen so that all have one hash.
    #[test]
    fn the_hashes_of_names_differ_from_map_to_map() {
        let hashes = || {
            let (mut nodes, now) = (Nodes::default(), Instant::now());
            nodes.report(1, &[(b"a", 2)], now);
            let channels: Vec<_> = nodes.nodes.values().map(|node| node.channels.hasher().hash_one("a")).collect();
            (nodes.nodes.hasher().hash_one("a"), channels)
        };
        let (first, second) = (hashes(), hashes());
        assert!(first.0 != second.0 && first.1 != second.1);
    }

    #[test]
    fn counts_of_all_servers_add_up_until_they_are_not_reported_any_more() {
        let (mut nodes, now) = (Nodes::default(), Instant::now());
        assert!(nodes.report(1, &[(b"a", 2), (b"b", 1)], now));
        assert!(nodes.report(2, &[(b"a", 3)], now));
        assert!(!nodes.report(2, &[], now));
        assert_eq!((nodes.presence(b"a", now), nodes.presence(b"b", now), nodes.count(now)), (5, 1, 2));
        let later = now + LIFE / 2;
        nodes.report(1, &[(b"a", 4), (b"b", 0)], later);
        assert_eq!((nodes.presence(b"a", later), nodes.presence(b"b", later)), (7, 0));
        let last = now + LIFE + Duration::from_secs(1);
        assert_eq!((nodes.presence(b"a", last), nodes.count(last)), (4, 1));
        nodes.expire(last);
        assert_eq!((nodes.nodes.len(), nodes.counts), (1, 1));
    }

    #[test]
    fn reports_of_strangers_cost_bounded_memory() {
        let (mut nodes, now) = (Nodes::default(), Instant::now());
        let names: Vec<Vec<u8>> =
            (0..=MAX_COUNTS as u32 / MAX_NODES as u32).map(|name| name.to_be_bytes().to_vec()).collect();
        let counts: Vec<(&[u8], u32)> = names.iter().map(|name| (name.as_slice(), 1)).collect();
        for node in 0..=MAX_NODES as u64 {
            nodes.report(node, &counts, now);
        }
        assert_eq!((nodes.nodes.len(), nodes.counts), (MAX_NODES, MAX_COUNTS));
    }
}
