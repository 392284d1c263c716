//! Lifetime of a worker in requests: `MaxRequestsPerChild`.

use std::ops::RangeInclusive;

use base::drawn::request_limit;

/// Counts a worker's requests down to its end.
#[derive(Debug)]
pub struct RequestLimit {
    left: Option<u64>,
}

impl RequestLimit {
    /// Draws the limit of this worker, so that workers born together do not exit together. 0: no limit.
    pub fn draw(range: &RangeInclusive<u64>) -> RequestLimit {
        RequestLimit { left: request_limit(range) }
    }

    /// Counts one request; true when it is the last one.
    pub fn is_last(&mut self) -> bool {
        let Some(left) = &mut self.left else { return false };
        *left = left.saturating_sub(1);
        *left == 0
    }
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
