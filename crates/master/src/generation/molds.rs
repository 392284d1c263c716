//! The molds of a generation: the one that has loaded its code, and workers that have become molds since. The newest forks;
//! the first stays, so that another can fork when that one ends; the others leave when their last worker has.

use nix::unistd::Pid;
use wire::control::ToMold;

use crate::children::{Mold, Refork};

/// One of them.
#[derive(Debug)]
pub struct Member {
    /// See [`Refork`].
    pub refork: Refork,
    /// Its process.
    pub mold: Mold,
    /// It has its code, and can fork.
    pub is_loaded: bool,
    /// It was told to leave.
    is_retired: bool,
}

/// The molds of one generation, oldest first.
#[derive(Debug, Default)]
pub struct Molds {
    members: Vec<Member>,
}

impl Molds {
    /// One that is about to load the code.
    pub fn add_first(&mut self, mold: Mold) {
        self.members.insert(0, Member { refork: 0, mold, is_loaded: false, is_retired: false });
    }

    /// One that was a worker. It forks from now on.
    pub fn add_promoted(&mut self, refork: Refork, mold: Mold) {
        for older in self.members.iter_mut().filter(|older| older.refork > 0) {
            older.retire();
        }
        self.members.push(Member { refork, mold, is_loaded: true, is_retired: false });
    }

    /// The one that forks now, or will when it has loaded the code.
    pub fn forking(&self) -> Option<&Member> {
        self.members.iter().rfind(|member| !member.is_retired)
    }

    /// The same.
    pub fn forking_mut(&mut self) -> Option<&mut Member> {
        self.members.iter_mut().rfind(|member| !member.is_retired)
    }

    /// Whether workers can be had.
    pub fn can_fork(&self) -> bool {
        self.forking().is_some_and(|member| member.is_loaded)
    }

    /// That one.
    pub fn get(&self, refork: Refork) -> Option<&Member> {
        self.members.iter().find(|member| member.refork == refork)
    }

    /// That one.
    pub fn get_mut(&mut self, refork: Refork) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.refork == refork)
    }

    /// Whose process that is.
    pub fn of(&self, pid: Pid) -> Option<&Member> {
        self.members.iter().find(|member| member.mold.pid == pid)
    }

    /// It has ended.
    pub fn remove(&mut self, refork: Refork) {
        self.members.retain(|member| member.refork != refork);
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// All.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut()
    }

    /// Tells all to fork no more, and to end after their last workers.
    pub fn retire(&mut self) {
        self.members.iter_mut().for_each(Member::retire);
    }

    /// None is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Member {
    fn retire(&mut self) {
        if !std::mem::replace(&mut self.is_retired, true) {
            self.mold.peer.send(ToMold::Retire, vec![]);
        }
    }
}
