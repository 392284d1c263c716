//! A collection with one value for each pool of a generation.

use wire::control::PoolNumber;

/// Values indexed by pool number.
pub struct Pools<T> {
    /// Value of the server's own pool, number 0.
    own: T,
    others: Vec<T>,
}

impl<T> Pools<T> {
    /// Calls `make` for each pool number below `count`, which is at least 1.
    pub fn new(count: PoolNumber, mut make: impl FnMut(PoolNumber) -> T) -> Pools<T> {
        Pools { own: make(0), others: (1..count).map(make).collect() }
    }

    /// The value of `pool`, or of the server's own pool if that number is unknown.
    pub fn of(&self, pool: PoolNumber) -> &T {
        let other = usize::from(pool).checked_sub(1).and_then(|at| self.others.get(at));
        other.unwrap_or(&self.own)
    }

    /// All values, in the order of pool numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.own).chain(&self.others)
    }

    /// Whether there are pools beside the server's own.
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }
}
