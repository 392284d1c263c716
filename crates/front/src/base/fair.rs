//! Fair turns: a queue for work that may run only a few times at once. Turns are shared fairly between folders, then
//! between clients.
//!
//! Sibling folders get equal shares, however many folders lie below them: the owner of `/home/ann` gains nothing by a
//! thousand subfolders or a thousand requests.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::blocking::processors;

/// Maximum number of levels of folders; deeper folders share the turns of their ancestor at this level.
const MAX_DEPTH: usize = 16;
/// Maximum number of folders whose last turn is stored; when there are more, the table is cleared.
const REMEMBERED: usize = 10_000;

/// Random keys of the hash, so that a client cannot construct two folders with the same digest.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Identifies a candidate for a turn: a digest for each folder on the path, then one that includes the client.
#[derive(Debug, Clone)]
pub struct Claimant(Vec<u64>);

impl Claimant {
    /// The claimant for a request of `client` to `folder`.
    pub fn new(folder: &Path, client: Option<IpAddr>) -> Claimant {
        let mut way = Vec::new();
        for name in folder.iter().take(MAX_DEPTH) {
            way.push(step::<OsStr>(way.last(), name));
        }
        way.extend(client.map(|client| step(way.last(), &client)));
        Claimant(way)
    }
}

fn step<T: Hash + ?Sized>(before: Option<&u64>, name: &T) -> u64 {
    KEYS.hash_one((before, name))
}

/// A queue for one kind of work.
pub struct FairQueue {
    /// Maximum number of turns at once; 0: as many as there are processors.
    turns: usize,
    /// Maximum weight of all running turns together; a single turn may weigh more.
    weight: usize,
    state: Mutex<Option<State>>,
}

#[derive(Default)]
struct State {
    running: usize,
    weight: usize,
    waiting: Vec<Waiting>,
    /// The number of the last turn of each digest.
    served: HashMap<u64, u64>,
    turns: u64,
}

struct Waiting {
    claimant: Claimant,
    weight: usize,
    turn: oneshot::Sender<FairTurn>,
}

/// A turn, which ends when it is dropped. The work owns it, because the work may outlive the request.
pub struct FairTurn {
    queue: &'static FairQueue,
    weight: usize,
}

impl FairQueue {
    /// Creates a queue for `turns` turns at once, with at most `weight` together.
    pub const fn new(turns: usize, weight: usize) -> FairQueue {
        FairQueue { turns, weight, state: Mutex::new(None) }
    }

    /// Creates a queue for as many turns at once as there are processors, without weights.
    pub const fn of_processors() -> FairQueue {
        FairQueue::new(0, 0)
    }

    /// Waits for a turn. Dropping the future leaves the queue.
    pub async fn turn(&'static self, claimant: Claimant, weight: usize) -> Option<FairTurn> {
        let (turn, given) = oneshot::channel();
        self.change(|state| state.waiting.push(Waiting { claimant, weight, turn }));
        given.await.ok()
    }

    /// Changes the state, then starts the turns that are due.
    fn change(&'static self, change: impl FnOnce(&mut State)) {
        let mut guard = self.state();
        let state = guard.get_or_insert_default();
        change(state);
        let mut due = Vec::new();
        while let Some(next) = self.next(state) {
            due.push((next.turn, FairTurn { queue: self, weight: next.weight }));
        }
        drop(guard);
        // If the receiver is gone, the turn is dropped, which returns it.
        due.into_iter().for_each(|(waiting, turn)| drop(waiting.send(turn)));
    }

    fn next(&self, state: &mut State) -> Option<Waiting> {
        state.waiting.retain(|waiting| !waiting.turn.is_closed());
        let turns = if self.turns == 0 { processors() } else { self.turns };
        if state.running >= turns {
            return None;
        }
        let next = state.fairest()?;
        let weight = state.waiting.get(next)?.weight;
        if state.running > 0 && state.weight + weight > self.weight {
            return None;
        }
        let next = state.waiting.remove(next);
        (state.running, state.weight) = (state.running + 1, state.weight + weight);
        state.note(&next.claimant);
        Some(next)
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Descends from the root, at each level to the folder that has waited longest since its last turn; ties go to the
    /// earliest request.
    fn fairest(&self) -> Option<usize> {
        let mut left: Vec<usize> = (0..self.waiting.len()).collect();
        for depth in 0..=MAX_DEPTH {
            let step = |at: &usize| self.waiting.get(*at).and_then(|waiting| waiting.claimant.0.get(depth)).copied();
            let last = |at: &usize| step(at).and_then(|step| self.served.get(&step)).copied().unwrap_or_default();
            let chosen = left.iter().min_by_key(|at| last(at)).and_then(step);
            left.retain(|at| step(at) == chosen);
            if chosen.is_none() {
                break;
            }
        }
        left.first().copied()
    }

    fn note(&mut self, claimant: &Claimant) {
        if self.served.len() > REMEMBERED {
            self.served.clear();
        }
        self.turns += 1;
        self.served.extend(claimant.0.iter().map(|step| (*step, self.turns)));
    }
}

impl Drop for FairTurn {
    fn drop(&mut self) {
        let weight = self.weight;
        self.queue.change(|state| (state.running, state.weight) = (state.running - 1, state.weight - weight));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use tokio::runtime::Builder;
    use tokio::task::LocalSet;

    use super::*;

    /// Folders in the order of their turns, when all `claims` are made during a first turn.
    fn order(queue: &'static FairQueue, claims: &[(&'static str, u8, usize)]) -> Vec<&'static str> {
        let order = RefCell::new(Vec::new());
        let all = async {
            let claimant =
                |folder: &str, client| Claimant::new(Path::new(folder), Some(IpAddr::from([192, 0, 2, client])));
            let first = queue.turn(claimant("/first", 0), 0).await;
            let mut queued: Vec<_> = claims
                .iter()
                .map(|(folder, client, weight)| {
                    let order = &order;
                    Box::pin(async move {
                        let turn = queue.turn(claimant(folder, *client), *weight).await;
                        order.borrow_mut().push(*folder);
                        tokio::task::yield_now().await;
                        drop(turn);
                    })
                })
                .collect();
            let mut first = Some(first);
            std::future::poll_fn(|cx| {
                queued.retain_mut(|waiting| waiting.as_mut().poll(cx).is_pending());
                first.take();
                if queued.is_empty() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        };
        LocalSet::new().block_on(&Builder::new_current_thread().build().expect("a runtime"), all);
        order.into_inner()
    }

    #[test]
    fn a_folder_waits_for_one_turn_of_its_neighbour_however_many_that_one_wants() {
        static QUEUE: FairQueue = FairQueue::new(1, 0);
        let mut claims =
            vec![("/home/bob/a", 1, 0), ("/home/bob/b", 1, 0), ("/home/bob/c", 2, 0), ("/home/bob/c", 3, 0)];
        claims.extend([("/home/ann", 4, 0), ("/home/ann", 5, 0)]);
        let order = order(&QUEUE, &claims);
        assert_eq!(order, ["/home/bob/a", "/home/ann", "/home/bob/b", "/home/ann", "/home/bob/c", "/home/bob/c"]);
    }

    #[test]
    fn a_client_waits_for_one_turn_of_another_in_the_same_folder() {
        let mut state = State::default();
        for client in [1, 1, 1, 2] {
            let claimant = Claimant::new(Path::new("/a"), Some(IpAddr::from([192, 0, 2, client])));
            state.waiting.push(Waiting { claimant, weight: 0, turn: oneshot::channel().0 });
        }
        assert_eq!(state.fairest(), Some(0));
        let first = state.waiting.remove(0);
        state.note(&first.claimant);
        assert_eq!(state.fairest(), Some(2), "the other client");
    }

    /// Whether the turn has not started yet.
    fn waits<F: Future>(turn: &mut Pin<Box<F>>) -> bool {
        turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[test]
    fn turns_are_few_and_weigh_no_more_than_they_may() {
        static QUEUE: FairQueue = FairQueue::new(2, 10);
        let claim = |weight| Box::pin(QUEUE.turn(Claimant::new(Path::new("/a"), None), weight));
        Builder::new_current_thread().build().expect("a runtime").block_on(async {
            let heavy = claim(9).await;
            let mut light = claim(2);
            assert!(waits(&mut light), "too heavy together");
            drop(heavy);
            let light = light.await;
            let mut heaviest = claim(99);
            assert!(waits(&mut heaviest), "too heavy beside another");
            drop(light);
            let heaviest = heaviest.await;
            let mut given_up = claim(1);
            assert!(waits(&mut given_up));
            drop(given_up);
            drop(heaviest);
            let _two = (claim(1).await, claim(1).await);
            assert!(waits(&mut claim(1)), "two at once");
        });
    }
}
