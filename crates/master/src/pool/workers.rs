//! The workers as the master knows them: whose place, which process, since when. Asks nobody, does no I/O but signals.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use wire::control::{ExitReason, GenerationNumber, PoolId, Slot, WorkerId, WorkerState};

use super::process::{NotForked, Process};
use super::worker::{Socket, Worker};
use crate::children::MoldId;
use machine::memory::Sizes;

/// All workers of all generations.
#[derive(Debug, Default)]
pub struct Workers {
    by_slot: BTreeMap<Slot, Worker>,
    /// How many were added.
    added: u64,
}

/// A worker that serves.
#[derive(Debug, Clone, Copy)]
pub struct Idle {
    /// Which.
    pub id: WorkerId,
    /// Its process.
    pub pid: i32,
    /// Whose child it is.
    pub mold: MoldId,
    /// Its private memory as last measured, in bytes.
    pub private: u64,
}

impl Workers {
    /// A new one in the lowest free place.
    pub fn add(&mut self, mold: MoldId, now: Instant) -> WorkerId {
        self.added += 1;
        let slot = (0..).find(|slot| !self.by_slot.contains_key(slot)).unwrap_or(Slot::MAX);
        let worker = Worker::new(self.added, mold, now);
        self.by_slot.insert(slot, worker);
        WorkerId { slot, serial: self.added }
    }

    /// Of one whose `Ready` came before `Forked`: which it is, and what `Ready` said.
    pub fn ready_early(&mut self, slot: Slot) -> Option<(WorkerId, u32)> {
        let worker = self.by_slot.get_mut(&slot)?;
        Some((WorkerId { slot, serial: worker.serial }, worker.ready_us.take()?))
    }

    /// The one that the front means, unless it has ended.
    pub fn meant_by(&mut self, id: WorkerId) -> Option<&mut Worker> {
        self.by_slot.get_mut(&id.slot).filter(|worker| worker.serial == id.serial)
    }

    /// The one at `slot`.
    pub fn get(&self, slot: Slot) -> Option<&Worker> {
        self.by_slot.get(&slot)
    }

    /// The same.
    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut Worker> {
        self.by_slot.get_mut(&slot)
    }

    /// The mold says that it forked it. `is_its_child`, asked for the parent of that process, says whether to believe it.
    pub fn forked(&mut self, slot: Slot, pid: Pid, is_its_child: impl FnOnce(Pid) -> bool) -> Result<(), NotForked> {
        match self.by_slot.get_mut(&slot) {
            Some(Worker { process: Some(_), .. }) => return Err(NotForked::Foreign),
            Some(worker) => worker.process = Some(Process::open(pid, is_its_child)?),
            None => {}
        }
        Ok(())
    }

    /// Its place is free.
    pub fn remove(&mut self, slot: Slot) -> Option<Worker> {
        self.by_slot.remove(&slot)
    }

    /// Whose process that is.
    pub fn slot_of(&self, pid: Pid) -> Option<Slot> {
        let is = |worker: &Worker| worker.process.as_ref().is_some_and(|process| process.pid == pid);
        self.by_slot.iter().find(|(_, worker)| is(worker)).map(|(slot, _)| *slot)
    }

    /// Whether `slot` is the place of a worker that this mold was asked for.
    pub fn is_of(&self, slot: Slot, mold: MoldId) -> bool {
        self.by_slot.get(&slot).is_some_and(|worker| worker.mold == mold)
    }

    /// All, by place.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Worker)> {
        self.by_slot.iter().map(|(slot, worker)| (*slot, worker))
    }

    /// Those of one generation.
    pub fn of_generation(&self, generation: GenerationNumber) -> impl Iterator<Item = (Slot, &Worker)> {
        self.iter().filter(move |(_, worker)| worker.mold.pool.generation == generation)
    }

    /// Those of one pool of a generation.
    pub fn of(&self, pool: PoolId) -> impl Iterator<Item = (Slot, &Worker)> {
        self.iter().filter(move |(_, worker)| worker.mold.pool == pool)
    }

    /// Those of one mold that were never seen alive, or were reaped by it before it ended and had said so.
    pub fn lost(&self, mold: MoldId) -> Vec<Slot> {
        self.iter().filter(|(_, worker)| worker.mold == mold && !worker.exists()).map(|(slot, _)| slot).collect()
    }

    /// Of those of its generation, the workers of earlier molds: those that serve, and how many others there are, which
    /// begin or leave.
    pub fn outdated(&self, mold: MoldId) -> (Vec<WorkerId>, u32) {
        let older = self.of(mold.pool).filter(|(_, worker)| worker.mold.refork < mold.refork);
        let serves = |worker: &Worker| worker.state == WorkerState::Idle && !worker.is_dismissed;
        let (serving, others): (Vec<_>, Vec<_>) = older.partition(|(_, worker)| serves(worker));
        (
            serving.into_iter().map(|(slot, worker)| WorkerId { slot, serial: worker.serial }).collect(),
            count(others.iter()),
        )
    }

    /// How many of one pool serve or will.
    pub fn alive(&self, pool: PoolId) -> u32 {
        count(self.of(pool).filter(|(_, worker)| worker.state != WorkerState::Retiring))
    }

    /// The same of all pools.
    pub fn alive_by_pool(&self) -> BTreeMap<PoolId, u32> {
        let mut alive = BTreeMap::new();
        let serving = self.by_slot.values().filter(|worker| worker.state != WorkerState::Retiring);
        serving.for_each(|worker| *alive.entry(worker.mold.pool).or_default() += 1);
        alive
    }

    /// How many more processes a pool may have that serves with up to `max` workers: as many may be about to end.
    pub fn room(&self, pool: PoolId, max: u32) -> u32 {
        max.saturating_mul(2).saturating_sub(count(self.of(pool)))
    }

    /// How many of one pool are not ready yet.
    pub fn starting(&self, pool: PoolId) -> u32 {
        count(self.of(pool).filter(|(_, worker)| worker.state == WorkerState::Starting))
    }

    /// How many were asked to leave and have not gone.
    pub fn dismissed(&self) -> u32 {
        count(self.by_slot.values().filter(|worker| worker.is_dismissed))
    }

    /// Of those that serve and may go, the one with the most private memory.
    pub fn largest(&self, may_go: impl Fn(&Worker, Sizes) -> bool) -> Option<(WorkerId, Sizes)> {
        let serving = self.iter().filter(|(_, worker)| worker.state == WorkerState::Idle && !worker.is_dismissed);
        let measured = serving.filter_map(|(slot, worker)| Some((slot, worker, worker.sizes?)));
        let found =
            measured.filter(|(_, worker, sizes)| may_go(worker, *sizes)).max_by_key(|(.., sizes)| sizes.private);
        found.map(|(slot, worker, sizes)| (WorkerId { slot, serial: worker.serial }, sizes))
    }

    /// One that was not measured yet is there.
    pub fn has_unmeasured(&self) -> bool {
        self.by_slot.values().any(|worker| worker.sizes.is_none())
    }

    /// Those of one pool that serve.
    pub fn idle(&self, pool: PoolId) -> Vec<Idle> {
        let serving = self.of(pool).filter(|(_, worker)| worker.state == WorkerState::Idle);
        let known = |(slot, worker): (Slot, &Worker)| {
            Some(Idle {
                id: WorkerId { slot, serial: worker.serial },
                pid: worker.process.as_ref()?.pid.as_raw(),
                mold: worker.mold,
                private: worker.sizes.map_or(0, |sizes| sizes.private),
            })
        };
        serving.filter_map(known).collect()
    }

    /// That one, if it has this process.
    pub fn with_pid(&self, slot: Slot, pid: Pid) -> Option<WorkerId> {
        let worker = self.by_slot.get(&slot)?;
        let is_its = worker.process.as_ref().is_some_and(|process| process.pid == pid);
        is_its.then_some(WorkerId { slot, serial: worker.serial })
    }

    /// It was asked to leave, and serves until it has no request.
    pub fn dismiss(&mut self, id: WorkerId, why: ExitReason) {
        if let Some(worker) = self.meant_by(id) {
            worker.is_dismissed = true;
            worker.why.get_or_insert(why);
        }
    }

    /// It serves no more.
    pub fn leaves(&mut self, id: WorkerId, by: Option<Instant>, why: ExitReason) {
        if let Some(worker) = self.meant_by(id) {
            worker.why.get_or_insert(why);
            worker.state = WorkerState::Retiring;
            worker.leave_by = worker.leave_by.or(by);
        }
    }

    /// The front has gone. Those of `serving` wait for another; the others see it and leave.
    pub fn lose_front(&mut self, serving: Option<GenerationNumber>, leave_by: Instant) {
        for worker in self.by_slot.values_mut().filter(|worker| Some(worker.mold.pool.generation) != serving) {
            worker.socket = None;
            worker.state = WorkerState::Retiring;
            worker.leave_by.get_or_insert(leave_by);
        }
    }

    /// Those of a generation that a new front can take over.
    pub fn orphans(&self, generation: GenerationNumber) -> Vec<(PoolId, WorkerId, Socket, Option<Pid>)> {
        let of = self.of_generation(generation).filter(|(_, worker)| worker.killed.is_none());
        let known = |(slot, worker): (Slot, &Worker)| {
            let id = WorkerId { slot, serial: worker.serial };
            Some((worker.mold.pool, id, worker.socket.clone()?, worker.process.as_ref().map(|process| process.pid)))
        };
        of.filter_map(known).collect()
    }

    /// From now on they see the end of their front; of all generations, or of one.
    pub fn let_go(&mut self, generation: Option<GenerationNumber>) {
        let is_meant = |worker: &&mut Worker| generation.is_none_or(|number| worker.mold.pool.generation == number);
        self.by_slot.values_mut().filter(is_meant).for_each(|worker| worker.socket = None);
    }

    /// Ends those that did not leave in time.
    pub fn expel(&mut self, now: Instant) {
        for worker in self.by_slot.values_mut().filter(|w| w.leave_by.is_some_and(|at| at <= now)) {
            worker.leave_by = None;
            let why = "did not end in time; GracefulShutdownTimeout bounds END blocks and PerlChildExitHandlers";
            worker.kill(why, ExitReason::SlowEnd);
        }
    }

    /// When [`Self::expel`] has something to do.
    pub fn expels(&self) -> Option<Instant> {
        self.by_slot.values().filter_map(|worker| worker.leave_by).min()
    }

    /// Lets those go on that were stopped.
    pub fn resume_all(&self) {
        for process in self.by_slot.values().filter_map(|worker| worker.process.as_ref()) {
            // One that has ended is reaped soon.
            let _ = process.signal(Signal::SIGCONT);
        }
    }

    /// Ends all at once.
    pub fn kill_all(&mut self, reason: &str) {
        self.by_slot.values_mut().for_each(|worker| worker.kill(reason, ExitReason::Stop));
    }

    /// Those that should have been ready by now, and when the next of them is due.
    pub fn overdue(&self, allowed: Duration, now: Instant) -> (Vec<Slot>, Option<Instant>) {
        let starting = self.iter().filter(|(_, w)| w.state == WorkerState::Starting && w.killed.is_none());
        let due: Vec<(Slot, Instant)> = starting.map(|(slot, worker)| (slot, worker.asked + allowed)).collect();
        let late = due.iter().filter(|(_, at)| *at <= now).map(|(slot, _)| *slot).collect();
        (late, due.iter().map(|(_, at)| *at).filter(|at| *at > now).min())
    }

    /// Nobody is left.
    pub fn is_empty(&self) -> bool {
        self.by_slot.is_empty()
    }
}

fn count<T>(these: impl Iterator<Item = T>) -> u32 {
    u32::try_from(these.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_of(generation: GenerationNumber) -> PoolId {
        PoolId { generation, pool: 0 }
    }

    fn first_of(generation: GenerationNumber) -> MoldId {
        MoldId { pool: own_of(generation), refork: 0 }
    }

    #[test]
    fn the_lowest_free_place_is_taken() {
        let (mut workers, now) = (Workers::default(), Instant::now());
        assert_eq!([1, 1, 2].map(|generation| workers.add(first_of(generation), now).slot), [0, 1, 2]);
        workers.remove(1);
        assert_eq!(workers.add(first_of(2), now).slot, 1);
        assert_eq!((workers.alive(own_of(1)), workers.alive(own_of(2))), (1, 2));
    }

    #[test]
    fn news_of_a_worker_is_not_about_the_next_one_in_its_place() {
        let (mut workers, now) = (Workers::default(), Instant::now());
        let first = workers.add(first_of(1), now);
        workers.remove(first.slot);
        let second = workers.add(first_of(1), now);
        assert_eq!(first.slot, second.slot);
        workers.leaves(first, Some(now), ExitReason::Spare);
        assert!(workers.meant_by(first).is_none());
        assert_eq!((workers.alive(own_of(1)), workers.expels()), (1, None));
        workers.leaves(second, Some(now), ExitReason::Spare);
        assert_eq!((workers.alive(own_of(1)), workers.expels()), (0, Some(now)));
    }

    #[test]
    fn a_worker_that_boots_too_long_is_overdue() {
        let (mut workers, now) = (Workers::default(), Instant::now());
        let allowed = Duration::from_secs(60);
        let slot = workers.add(first_of(1), now).slot;
        assert_eq!(workers.overdue(allowed, now), (vec![], Some(now + allowed)));
        assert_eq!(workers.overdue(allowed, now + allowed), (vec![slot], None));
    }

    #[test]
    fn a_process_that_has_ended_is_not_killed_in_anothers_name() {
        let mut workers = Workers::default();
        let slot = workers.add(first_of(1), Instant::now()).slot;
        let mut child = std::process::Command::new("true").spawn().expect("spawned");
        let pid = Pid::from_raw(child.id().cast_signed());
        let is_ours = |parent| parent == nix::unistd::getpid();
        workers.forked(slot, pid, is_ours).expect("alive");
        assert_eq!(workers.forked(slot, pid, is_ours), Err(NotForked::Foreign), "it has one");
        child.wait().expect("reaped");
        let worker = workers.get_mut(slot).expect("there");
        worker.kill("test", ExitReason::Stop);
        assert_eq!(worker.killed, None);
        assert_eq!(workers.lost(first_of(1)), [slot]);
    }

    #[test]
    fn a_process_that_the_mold_did_not_fork_is_not_taken_for_a_worker() {
        let mut workers = Workers::default();
        let slot = workers.add(first_of(1), Instant::now()).slot;
        let us = nix::unistd::getpid();
        for (pid, why) in [
            (us, NotForked::Foreign),
            (Pid::from_raw(1), NotForked::Foreign),
            (Pid::from_raw(0), NotForked::Ended),
            (Pid::from_raw(-1), NotForked::Ended),
        ] {
            assert_eq!(workers.forked(slot, pid, |parent| parent == us), Err(why), "{pid}");
        }
        assert_eq!(workers.lost(first_of(1)), [slot]);
    }

    #[test]
    fn workers_of_earlier_molds_are_outdated_until_they_have_gone() {
        let (mut workers, now) = (Workers::default(), Instant::now());
        let newest = MoldId { pool: own_of(1), refork: 2 };
        let ids = [0, 1, 2].map(|refork| workers.add(MoldId { pool: own_of(1), refork }, now));
        workers.add(first_of(2), now);
        assert_eq!(workers.outdated(newest), (vec![], 2), "they have not begun yet");
        ids.iter().for_each(|id| workers.meant_by(*id).expect("there").state = WorkerState::Idle);
        assert_eq!(workers.outdated(newest), (ids[..2].to_vec(), 0));
        workers.dismiss(ids[0], ExitReason::Refork);
        assert_eq!(workers.outdated(newest), (vec![ids[1]], 1));
        workers.remove(ids[0].slot);
        assert_eq!(workers.outdated(newest), (vec![ids[1]], 0));
    }
}
