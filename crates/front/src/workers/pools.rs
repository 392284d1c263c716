//! One of something for each pool of a generation.

use wire::control::PoolNumber;

/// Those of all pools, by their numbers.
pub struct Pools<T> {
    /// Of the server's own pool.
    own: T,
    others: Vec<T>,
}

impl<T> Pools<T> {
    /// Makes one for each of so many.
    pub fn new(count: PoolNumber, mut make: impl FnMut(PoolNumber) -> T) -> Pools<T> {
        Pools { own: make(0), others: (1..count).map(make).collect() }
    }

    /// That of a pool; the server's own where there is none of that number.
    pub fn of(&self, pool: PoolNumber) -> &T {
        let other = usize::from(pool).checked_sub(1).and_then(|at| self.others.get(at));
        other.unwrap_or(&self.own)
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.own).chain(&self.others)
    }

    /// Whether there is more than the server's own.
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }
}
