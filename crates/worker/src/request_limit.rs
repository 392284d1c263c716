//! Lifetime of a worker in requests: `MaxRequestsPerChild`.

use std::ops::RangeInclusive;

/// Counts a worker's requests down to its end.
#[derive(Debug)]
pub struct RequestLimit {
    left: Option<u64>,
}

impl RequestLimit {
    /// Draws the limit of this worker, so that workers born together do not exit together. 0: no limit.
    pub fn draw(range: &RangeInclusive<u64>) -> RequestLimit {
        let (least, most) = (*range.start(), *range.end());
        if most == 0 {
            return RequestLimit { left: None };
        }
        let span = most.saturating_sub(least) + 1;
        RequestLimit { left: Some(least.max(1) + random() % span) }
    }

    /// Counts one request; true when it is the last one.
    pub fn is_last(&mut self) -> bool {
        let Some(left) = &mut self.left else { return false };
        *left = left.saturating_sub(1);
        *left == 0
    }
}

/// The hasher's keys are random per process and differ per call: enough to spread ends.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_ends_with_exactly_its_last_request() {
        let mut limit = RequestLimit::draw(&(3..=3));
        assert_eq!([limit.is_last(), limit.is_last(), limit.is_last()], [false, false, true]);
    }

    #[test]
    fn a_request_limit_of_zero_never_ends_a_worker() {
        let mut limit = RequestLimit::draw(&(0..=0));
        assert!((0..10_000).all(|_| !limit.is_last()));
    }

    #[test]
    fn limits_spread_over_the_range() {
        let drawn: std::collections::HashSet<u64> =
            (0..200).filter_map(|_| RequestLimit::draw(&(10..=20)).left).collect();
        assert!(drawn.len() > 5 && drawn.iter().all(|n| (10..=20).contains(n)));
    }
}
