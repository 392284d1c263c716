//! The register of all workers, by slot.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wire::control::{ExitReason, GenerationNumber, PoolId, Slot, WorkerId, WorkerState, WorkerStatus};

use super::worker::WorkerEntry;
use crate::children::MoldId;
use machine::memory::MemorySizes;

/// All workers of all generations.
#[derive(Debug, Default)]
pub struct WorkerRegister {
    by_slot: BTreeMap<Slot, WorkerEntry>,
    /// Number of workers added so far; the next serial number.
    added: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct ServingWorker {
    /// The worker that has reached a limit.
    pub id: WorkerId,
    /// Process id of the worker.
    pub pid: i32,
    pub mold: MoldId,
    /// Private memory in bytes, as measured last.
    pub private: u64,
}

impl WorkerRegister {
    /// A new worker in the lowest free slot.
    pub fn add(&mut self, mold: MoldId, now: Instant) -> WorkerId {
        self.added += 1;
        let slot = (0..).find(|slot| !self.by_slot.contains_key(slot)).unwrap_or(Slot::MAX);
        let worker = WorkerEntry::new(self.added, mold, now);
        self.by_slot.insert(slot, worker);
        WorkerId { slot, serial: self.added }
    }

    /// Takes the `Ready` that was reported before the process: which worker it is, and the time of its fork in µs.
    pub fn take_early_ready(&mut self, slot: Slot) -> Option<(WorkerId, u32)> {
        let worker = self.by_slot.get_mut(&slot)?;
        Some((WorkerId { slot, serial: worker.serial }, worker.ready_us.take()?))
    }

    /// The worker with this slot and serial number, unless it has ended.
    pub fn find(&self, id: WorkerId) -> Option<&WorkerEntry> {
        self.by_slot.get(&id.slot).filter(|worker| worker.serial == id.serial)
    }

    /// [`Self::find`] with mutable access.
    pub fn find_mut(&mut self, id: WorkerId) -> Option<&mut WorkerEntry> {
        self.by_slot.get_mut(&id.slot).filter(|worker| worker.serial == id.serial)
    }

    pub fn get(&self, slot: Slot) -> Option<&WorkerEntry> {
        self.by_slot.get(&slot)
    }

    /// [`Self::get`] with mutable access.
    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut WorkerEntry> {
        self.by_slot.get_mut(&slot)
    }

    pub fn remove(&mut self, slot: Slot) -> Option<WorkerEntry> {
        self.by_slot.remove(&slot)
    }

    /// The slot of the worker with this process id.
    pub fn slot_of(&self, pid: i32) -> Option<Slot> {
        self.by_slot.iter().find(|(_, worker)| worker.pid == Some(pid)).map(|(slot, _)| *slot)
    }

    /// Whether the worker in `slot` was forked by this mold.
    pub fn is_of(&self, slot: Slot, mold: MoldId) -> bool {
        self.by_slot.get(&slot).is_some_and(|worker| worker.mold == mold)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Slot, &WorkerEntry)> {
        self.by_slot.iter().map(|(slot, worker)| (*slot, worker))
    }

    pub fn of_generation(&self, generation: GenerationNumber) -> impl Iterator<Item = (Slot, &WorkerEntry)> {
        self.iter().filter(move |(_, worker)| worker.mold.pool.generation == generation)
    }

    pub fn of(&self, pool: PoolId) -> impl Iterator<Item = (Slot, &WorkerEntry)> {
        self.iter().filter(move |(_, worker)| worker.mold.pool == pool)
    }

    /// The workers of molds older than `mold`: ids of those that serve, and the number of those that start or leave.
    pub fn outdated(&self, mold: MoldId) -> (Vec<WorkerId>, u32) {
        let older = self.of(mold.pool).filter(|(_, worker)| worker.mold.refork < mold.refork);
        let (serving, others): (Vec<_>, Vec<_>) = older.partition(|(_, worker)| worker.serves());
        (
            serving.into_iter().map(|(slot, worker)| WorkerId { slot, serial: worker.serial }).collect(),
            count(others.iter()),
        )
    }

    /// Number of workers of one pool that serve or start.
    pub fn alive(&self, pool: PoolId) -> u32 {
        count(self.of(pool).filter(|(_, worker)| worker.state != WorkerState::Retiring))
    }

    /// Number of workers of one pool that serve or start, and the same with those that leave.
    pub fn alive_and_all(&self, pool: PoolId) -> (u32, u32) {
        (self.alive(pool), count(self.of(pool)))
    }

    /// Number of workers of one pool that are not ready yet.
    pub fn starting(&self, pool: PoolId) -> u32 {
        count(self.of(pool).filter(|(_, worker)| worker.state == WorkerState::Starting))
    }

    /// Number of workers that were asked to leave and still run.
    pub fn dismissed(&self) -> u32 {
        count(self.by_slot.values().filter(|worker| worker.is_dismissed))
    }

    /// The worker with the most private memory among those that serve and pass `may_go`.
    pub fn largest(&self, may_go: impl Fn(&WorkerEntry, MemorySizes) -> bool) -> Option<(WorkerId, MemorySizes)> {
        let measured = self.iter().filter(|(_, worker)| worker.serves());
        let measured = measured.filter_map(|(slot, worker)| Some((slot, worker, worker.sizes?)));
        let found =
            measured.filter(|(_, worker, sizes)| may_go(worker, *sizes)).max_by_key(|(.., sizes)| sizes.private);
        found.map(|(slot, worker, sizes)| (WorkerId { slot, serial: worker.serial }, sizes))
    }

    /// Whether a worker was not measured yet.
    pub fn has_unmeasured(&self) -> bool {
        self.by_slot.values().any(|worker| worker.sizes.is_none())
    }

    pub fn serving(&self, pool: PoolId) -> Vec<ServingWorker> {
        let idle = self.of(pool).filter(|(_, worker)| worker.state == WorkerState::Idle);
        let known = |(slot, worker): (Slot, &WorkerEntry)| {
            Some(ServingWorker {
                id: WorkerId { slot, serial: worker.serial },
                pid: worker.pid?,
                mold: worker.mold,
                private: worker.sizes.map_or(0, |sizes| sizes.private),
            })
        };
        idle.filter_map(known).collect()
    }

    /// The worker at `slot`, if it has this process.
    pub fn with_pid(&self, slot: Slot, pid: i32) -> Option<WorkerId> {
        let worker = self.by_slot.get(&slot).filter(|worker| worker.pid == Some(pid))?;
        Some(WorkerId { slot, serial: worker.serial })
    }

    /// Stores the front's report on its workers.
    pub fn note(&mut self, reported: &[WorkerStatus]) {
        for status in reported {
            let Some(worker) = self.by_slot.get_mut(&status.slot).filter(|it| it.pid == Some(status.pid)) else {
                continue;
            };
            worker.requests = status.requests;
            worker.idle = (status.state == WorkerState::Idle).then(|| Duration::from_millis(status.since_ms));
        }
    }

    /// The worker at `slot`, if it serves and may be asked to leave, or why not. `serving` is the generation that
    /// serves.
    pub fn recyclable(
        &self,
        slot: Slot,
        serving: Option<GenerationNumber>,
    ) -> Result<(WorkerId, &WorkerEntry), String> {
        let Some(worker) = self.by_slot.get(&slot) else { return Err(format!("there is no worker {slot}")) };
        let leaves = worker.is_dismissed || worker.state == WorkerState::Retiring;
        if leaves || Some(worker.mold.pool.generation) != serving {
            return Err(format!("worker {slot} is already leaving"));
        }
        if worker.state == WorkerState::Starting {
            return Err(format!("worker {slot} is still starting"));
        }
        Ok((WorkerId { slot, serial: worker.serial }, worker))
    }

    /// Notes that a worker was asked to leave; it serves until it is idle.
    pub fn dismiss(&mut self, id: WorkerId, why: ExitReason) {
        if let Some(worker) = self.find_mut(id) {
            worker.is_dismissed = true;
            worker.why.get_or_insert(why);
        }
    }

    /// Notes that a worker serves no more and must exit before `by`.
    pub fn leaves(&mut self, id: WorkerId, by: Option<Instant>, why: ExitReason) {
        if let Some(worker) = self.find_mut(id) {
            worker.why.get_or_insert(why);
            worker.state = WorkerState::Retiring;
            worker.leave_by = worker.leave_by.or(by);
        }
    }

    /// The master has killed a worker.
    pub fn note_killed(&mut self, slot: Slot, reason: &str, exit: ExitReason) {
        if let Some(worker) = self.by_slot.get_mut(&slot).filter(|worker| worker.killed.is_none()) {
            (worker.killed, worker.why) = (Some(reason.to_string()), Some(exit));
        }
    }

    /// Notes the end of the front. Workers of `serving` wait for the next front, the others must leave. Returns the
    /// slots of the others.
    pub fn lose_front(&mut self, serving: Option<GenerationNumber>, leave_by: Instant) -> Vec<Slot> {
        let others = self.by_slot.iter_mut().filter(|(_, worker)| Some(worker.mold.pool.generation) != serving);
        let leave = |(slot, worker): (&Slot, &mut WorkerEntry)| {
            worker.state = WorkerState::Retiring;
            worker.leave_by.get_or_insert(leave_by);
            *slot
        };
        others.map(leave).collect()
    }

    /// The workers of a generation that a new front can take over.
    pub fn orphans(&self, generation: GenerationNumber) -> Vec<(PoolId, WorkerId, Option<i32>)> {
        let of = self.of_generation(generation).filter(|(_, worker)| worker.killed.is_none());
        of.map(|(slot, worker)| (worker.mold.pool, WorkerId { slot, serial: worker.serial }, worker.pid)).collect()
    }

    /// Takes the workers that did not end in time.
    pub fn take_late_to_leave(&mut self, now: Instant) -> Vec<Slot> {
        let late = self.by_slot.iter_mut().filter(|(_, worker)| worker.leave_by.is_some_and(|at| at <= now));
        late.map(|(slot, worker)| {
            worker.leave_by = None;
            *slot
        })
        .collect()
    }

    /// When [`Self::take_late_to_leave`] must be called next.
    pub fn leave_by(&self) -> Option<Instant> {
        self.by_slot.values().filter_map(|worker| worker.leave_by).min()
    }

    /// The workers that are not ready after `allowed`, and when the next one is late.
    pub fn late_to_start(&self, allowed: Duration, now: Instant) -> (Vec<Slot>, Option<Instant>) {
        let starting = self.iter().filter(|(_, w)| w.state == WorkerState::Starting && w.killed.is_none());
        let due: Vec<(Slot, Instant)> =
            starting.map(|(slot, worker)| (slot, worker.fork_requested + allowed)).collect();
        let late = due.iter().filter(|(_, at)| *at <= now).map(|(slot, _)| *slot).collect();
        (late, due.iter().map(|(_, at)| *at).filter(|at| *at > now).min())
    }

    /// Whether there are no workers.
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
    fn the_lowest_free_slot_is_taken() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        assert_eq!([1, 1, 2].map(|generation| workers.add(first_of(generation), now).slot), [0, 1, 2]);
        workers.remove(1);
        assert_eq!(workers.add(first_of(2), now).slot, 1);
        assert_eq!((workers.alive(own_of(1)), workers.alive(own_of(2))), (1, 2));
    }

    #[test]
    fn news_of_a_worker_is_not_about_the_next_one_in_its_slot() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        let first = workers.add(first_of(1), now);
        workers.remove(first.slot);
        let second = workers.add(first_of(1), now);
        assert_eq!(first.slot, second.slot);
        workers.leaves(first, Some(now), ExitReason::Spare);
        assert!(workers.find(first).is_none());
        assert_eq!((workers.alive(own_of(1)), workers.leave_by()), (1, None));
        workers.leaves(second, Some(now), ExitReason::Spare);
        assert_eq!((workers.alive(own_of(1)), workers.leave_by()), (0, Some(now)));
        assert_eq!((workers.take_late_to_leave(now), workers.leave_by()), (vec![0], None));
    }

    #[test]
    fn a_worker_that_starts_for_too_long_is_late() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        let allowed = Duration::from_secs(60);
        let slot = workers.add(first_of(1), now).slot;
        assert_eq!(workers.late_to_start(allowed, now), (vec![], Some(now + allowed)));
        assert_eq!(workers.late_to_start(allowed, now + allowed), (vec![slot], None));
    }

    #[test]
    fn workers_of_earlier_molds_are_outdated_until_they_have_ended() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        let newest = MoldId { pool: own_of(1), refork: 2 };
        let ids = [0, 1, 2].map(|refork| workers.add(MoldId { pool: own_of(1), refork }, now));
        workers.add(first_of(2), now);
        assert_eq!(workers.outdated(newest), (vec![], 2), "they have not started yet");
        ids.iter().for_each(|id| workers.find_mut(*id).expect("there").state = WorkerState::Idle);
        assert_eq!(workers.outdated(newest), (ids[..2].to_vec(), 0));
        workers.dismiss(ids[0], ExitReason::Refork);
        assert_eq!(workers.outdated(newest), (vec![ids[1]], 1));
        workers.remove(ids[0].slot);
        assert_eq!(workers.outdated(newest), (vec![ids[1]], 0));
    }

    #[test]
    fn without_a_front_only_workers_of_the_serving_generation_stay() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        let [old, new] = [1, 2].map(|generation| workers.add(first_of(generation), now));
        assert_eq!(workers.lose_front(Some(2), now), [old.slot]);
        assert_eq!(workers.orphans(2), [(own_of(2), new, None)]);
        assert_eq!(workers.leave_by(), Some(now));
    }
}
