//! Reforks: promotes a worker to mold, and replaces older workers.

use std::time::{Duration, Instant};

use nix::unistd::Pid;
use wire::control::{ExitReason, FromMold, FrontStatus, PoolId, ToFront, WorkerId};

use super::Master;
use crate::budget::WorkerBudget;
use crate::children::ChildProcess;
use crate::children::peer::Peer;
use crate::children::process::is_our_child;
use crate::generation::MoldPool;
use crate::pool::workers::WorkerRegister;
use crate::refork::{ReforkAction, ReforkView};
use crate::sockets::control_socket::{ControlClient, ControlReply};
use base::log;
use config::budget::ReforkWhen;

impl Master {
    /// URG, or `cameleer refork` by `client`.
    pub(super) fn request_refork(&mut self, client: Option<ControlClient>) {
        if !self.serves() {
            return self.answer(client, &ControlReply::failed("the server is not serving at present"));
        }
        let config = &self.checked.config;
        let pools = self.generations.serving_pools().into_iter().map(|id| id.pool);
        // A pool without Perl has nothing to share.
        let pools: Vec<_> = pools.filter(|pool| !config.is_of_programs(*pool)).collect();
        let able: Vec<_> = pools.iter().copied().filter(|pool| !config.pool_of(*pool).is_event()).collect();
        if able.is_empty() && !pools.is_empty() {
            let why = "workers with an event loop (PsgiMode event) have connections, and cannot become a mold; reload instead";
            return self.answer(client, &ControlReply::failed(why));
        }
        match self.refork.request(client, able.into_iter(), Instant::now()) {
            Ok(action) => self.do_refork(action),
            Err(why) => self.answer(client, &ControlReply::failed(why)),
        }
    }

    /// Starts a refork where `Refork` makes one due. Logs the savings of the last one once they are measured.
    pub(super) fn refork_when_due(&mut self) {
        if !self.refork.is_at_rest() || !self.serves() {
            return;
        }
        let checked = self.checked.clone();
        for id in self.generations.serving_pools() {
            let (workers, budget) = (&self.workers, &self.budget);
            let Some(pool) = self.generations.pool(id) else { continue };
            let view = view_of(id, pool, workers, budget);
            let reforks = view.reforks;
            let judgement = self.refork.is_due(&checked.config.pool_of(id.pool).refork, &view);
            if let Some(saved) = judgement.saved {
                let pays = match judgement.does_not_pay() {
                    true => ", too little to repay another one; the next is after a reload",
                    false => "",
                };
                let name = self.name_of(id);
                let line = format_args!("{name} refork={reforks} has saved {saved} % of private memory{pays}");
                log::notice("master", line);
            }
            if judgement.is_due {
                let action = self.refork.begin(id.pool);
                return self.do_refork(action);
            }
        }
    }

    /// Bytes that reforks would save in pools where `Refork` is off.
    pub(super) fn refork_would_save(&self) -> Option<u64> {
        let config = &self.checked.config;
        let saved = self.generations.serving_pools().into_iter().filter_map(|id| {
            let settings = config.pool_of(id.pool);
            let is_able = !settings.is_event() && !config.is_of_programs(id.pool);
            let is_off = settings.refork == ReforkWhen::Off;
            let pool = self.generations.pool(id).filter(|_| is_able && is_off)?;
            view_of(id, pool, &self.workers, &self.budget).would_save()
        });
        saved.reduce(u64::saturating_add)
    }

    pub(super) fn choose_candidate(&mut self, status: &FrontStatus) {
        let serving = self.generations.serving_pools();
        let by = Instant::now() + self.start_timeout();
        let action = self.refork.choose(status, &self.workers, &serving, by);
        self.do_refork(action);
    }

    pub(super) fn do_refork(&mut self, actions: impl IntoIterator<Item = ReforkAction>) {
        for action in actions {
            match action {
                ReforkAction::AskFront => self.send_to_front(ToFront::Status, vec![]),
                ReforkAction::Promote(worker, _) => self.promote(worker),
                ReforkAction::Leave(worker) => self.dismiss(worker, ExitReason::Refork),
                ReforkAction::Renewed(mold, after) => log::notice(
                    "master",
                    format_args!("{} refork={} renewed in {after:.1?}", self.name_of(mold.pool), mold.refork),
                ),
                ReforkAction::Over(result, clients) => self.refork_over(result, &clients),
            }
        }
    }

    fn promote(&mut self, worker: WorkerId) {
        let pair = wire::channel::pair().and_then(|(ours, theirs)| Ok((Peer::new(ours)?, theirs)));
        match pair {
            Ok((peer, theirs)) => {
                self.send_to_front(ToFront::Promote { worker }, vec![theirs.into()]);
                self.workers.dismiss(worker, ExitReason::Refork);
                self.children.candidate = Some(peer);
            }
            Err(error) => self.end_refork(Err(format!("no channel for a mold: {error}"))),
        }
    }

    pub(super) fn read_candidate(&mut self) {
        let (Some(peer), Some(candidate)) = (&mut self.children.candidate, self.refork.candidate()) else { return };
        let slot = candidate.worker.slot;
        let received = match peer.receive() {
            Ok(None) if !peer.is_gone() => return,
            received => received,
        };
        match received {
            Ok(Some(FromMold::Promoted { pid, fork_us, requests })) => {
                self.promoted(Pid::from_raw(pid), Duration::from_micros(u64::from(fork_us)), requests);
            }
            Ok(Some(FromMold::Failed { error })) => {
                self.end_refork(Err(format!("worker={slot} cannot become a mold: {error}")));
            }
            Ok(None) => self.end_refork(Err(format!("worker={slot} ended before it became a mold"))),
            Ok(Some(_)) => self.end_refork(Err(format!("worker={slot} sent an invalid control message"))),
            Err(error) => self.end_refork(Err(format!("worker={slot} sent an invalid control message: {error}"))),
        }
    }

    fn promoted(&mut self, pid: Pid, took: Duration, requests: u64) {
        // The worker runs the site's code, which can report the pid of any process.
        let is_new = is_our_child(pid) && !self.has_started(pid) && self.workers.slot_of(pid.as_raw()).is_none();
        if !is_new {
            return self
                .end_refork(Err(format!("pid={pid}, which reported itself as a mold, is no child of the master")));
        }
        let (Some(peer), Some(candidate)) = (self.children.candidate.take(), self.refork.candidate()) else { return };
        let name = self.name_of(candidate.pool);
        let Some((mold, retired)) = self.generations.promoted(candidate.pool, pid.as_raw()) else {
            return self.end_refork(Err("the generation of the worker has ended".to_string()));
        };
        self.children.add_mold(mold, ChildProcess { pid, peer });
        self.retire_molds(&retired);
        let (refork, slot) = (mold.refork, candidate.worker.slot);
        log::notice(
            "master",
            format_args!(
                "mold pid={pid} {name} refork={refork} from worker={slot}, which had handled {requests} requests; it took {took:.1?}"
            ),
        );
        self.refork.promoted(mold, Instant::now());
        self.exits.count_refork();
        self.send_counts();
        self.tend();
    }

    /// Ends the refork under way, if there is one.
    pub(super) fn end_refork(&mut self, result: Result<(), String>) {
        let over = self.refork.end(result);
        self.do_refork(over);
    }

    fn refork_over(&mut self, result: Result<(), String>, clients: &[ControlClient]) {
        self.children.candidate = None;
        if let Err(error) = &result {
            log::warn("master", format_args!("no refork: {error}"));
        }
        let answer = result.map_or_else(ControlReply::failed, |()| ControlReply::ok());
        clients.iter().for_each(|client| self.answer(Some(*client), &answer));
    }
}

/// A pool as [`ReforkView`] shows it.
fn view_of<'a>(id: PoolId, pool: &MoldPool, workers: &'a WorkerRegister, budget: &WorkerBudget) -> ReforkView<'a> {
    let memory_of = |pid| budget.memory_of(pid).map(|sizes| sizes.rss);
    let mold = pool.molds.forking().map(|member| (member.refork, memory_of(member.pid)));
    ReforkView { pool: id, reforks: pool.reforks, mold, workers }
}
