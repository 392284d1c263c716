//! The molds of one pool: the one that has loaded the code, and workers that were promoted since. The newest mold
//! forks. The first one stays as a spare; the others end after their last worker.

use crate::children::ReforkNumber;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Number of the mold within its pool.
    pub refork: ReforkNumber,
    /// Process id of the mold.
    pub pid: i32,
    /// The code is loaded: the mold can fork.
    pub is_loaded: bool,
    /// The mold was asked to fork no more workers, and to end after its last one.
    is_retired: bool,
}

/// The molds of one pool, oldest first.
#[derive(Debug, Default)]
pub struct Molds {
    members: Vec<Member>,
}

impl Molds {
    /// Adds a mold that is about to load the code.
    pub fn add_first(&mut self, pid: i32) {
        self.members.insert(0, Member { refork: 0, pid, is_loaded: false, is_retired: false });
    }

    /// Adds a mold that was a worker, and forks from now on. Returns the molds that are to be retired.
    pub fn add_promoted(&mut self, refork: ReforkNumber, pid: i32) -> Vec<ReforkNumber> {
        let retired = self.retire_all_but_first();
        self.members.push(Member { refork, pid, is_loaded: true, is_retired: false });
        retired
    }

    fn retire_all_but_first(&mut self) -> Vec<ReforkNumber> {
        self.members.iter_mut().filter(|older| older.refork > 0).filter_map(Member::retire).collect()
    }

    pub fn loaded(&mut self) -> Option<&Member> {
        let first = self.members.iter_mut().find(|member| member.refork == 0)?;
        first.is_loaded = true;
        Some(first)
    }

    /// The mold that forks now, or will when it has loaded the code.
    pub fn forking(&self) -> Option<&Member> {
        self.members.iter().rfind(|member| !member.is_retired)
    }

    /// Whether a mold of the pool can fork workers.
    pub fn can_fork(&self) -> bool {
        self.forking().is_some_and(|member| member.is_loaded)
    }

    pub fn remove(&mut self, refork: ReforkNumber) {
        self.members.retain(|member| member.refork != refork);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// Retires all molds. Returns the molds that were not retired before.
    pub fn retire(&mut self) -> Vec<ReforkNumber> {
        self.members.iter_mut().filter_map(Member::retire).collect()
    }

    /// Whether no mold is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Member {
    fn retire(&mut self) -> Option<ReforkNumber> {
        (!std::mem::replace(&mut self.is_retired, true)).then_some(self.refork)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_mold_forks_and_the_first_stays() {
        let mut molds = Molds::default();
        molds.add_first(10);
        assert!(!molds.can_fork());
        assert_eq!(molds.loaded().map(|first| first.pid), Some(10));
        assert!(molds.add_promoted(1, 11).is_empty());
        assert_eq!(molds.add_promoted(2, 12), [1], "the first one stays");
        assert_eq!(molds.forking().map(|member| member.pid), Some(12));
        molds.remove(2);
        assert_eq!(molds.forking().map(|member| member.pid), Some(10), "the one before is retired");
        assert_eq!((molds.retire(), molds.retire()), (vec![0], vec![]));
        assert!(molds.forking().is_none() && !molds.is_empty());
    }
}
