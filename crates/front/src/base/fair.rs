//! Work that only few may do at once, in turns that are fair between folders and then between clients.
//!
//! A folder's neighbours have equal parts, however many folders lie below one of them: whoever owns `/home/ann` gains nothing
//! by a thousand folders in it, nor by a thousand requests.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::blocking::processors;

/// Folders that lie deeper share the turns of the one above.
const DEEPEST: usize = 16;
/// Folders whose last turn is remembered; when there are more, all begin anew.
const REMEMBERED: usize = 10_000;

/// Drawn by lot: nobody makes two folders look like one.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Who wants a turn: the folders on the way to its own and the client, each as a digest of the way so far.
#[derive(Debug, Clone)]
pub struct Claimant(Vec<u64>);

impl Claimant {
    /// Of a request to `folder`.
    pub fn new(folder: &Path, client: Option<IpAddr>) -> Claimant {
        let mut way = Vec::new();
        for name in folder.iter().take(DEEPEST) {
            way.push(step::<OsStr>(way.last(), name));
        }
        way.extend(client.map(|client| step(way.last(), &client)));
        Claimant(way)
    }
}

fn step<T: Hash + ?Sized>(before: Option<&u64>, name: &T) -> u64 {
    KEYS.hash_one((before, name))
}

/// Turns at one kind of work.
pub struct FairQueue {
    /// Turns at once; 0: as many as there are processors.
    turns: usize,
    /// What they may weigh together; one alone may weigh more.
    weight: usize,
    state: Mutex<Option<State>>,
}

#[derive(Default)]
struct State {
    running: usize,
    weight: usize,
    waiting: Vec<Waiting>,
    /// When each folder had its last turn, counted in turns.
    served: HashMap<u64, u64>,
    turns: u64,
}

struct Waiting {
    claimant: Claimant,
    weight: usize,
    turn: oneshot::Sender<Turn>,
}

/// A turn, until it is dropped. It goes along with the work, which may outlive whoever asked for it.
pub struct Turn {
    queue: &'static FairQueue,
    weight: usize,
}

impl FairQueue {
    /// `turns` at once, which weigh no more than `weight` together.
    pub const fn new(turns: usize, weight: usize) -> FairQueue {
        FairQueue { turns, weight, state: Mutex::new(None) }
    }

    /// As many turns at once as there are processors.
    pub const fn of_processors() -> FairQueue {
        FairQueue::new(0, 0)
    }

    /// Waits for a turn. Who does not wait any more has none.
    pub async fn turn(&'static self, claimant: Claimant, weight: usize) -> Option<Turn> {
        let (turn, given) = oneshot::channel();
        self.change(|state| state.waiting.push(Waiting { claimant, weight, turn }));
        given.await.ok()
    }

    /// Changes the state, then gives the turns that are due.
    fn change(&'static self, change: impl FnOnce(&mut State)) {
        let mut guard = self.state();
        let state = guard.get_or_insert_default();
        change(state);
        let mut due = Vec::new();
        while let Some(next) = self.next(state) {
            due.push((next.turn, Turn { queue: self, weight: next.weight }));
        }
        drop(guard);
        // A turn that nobody takes comes back here when it is dropped.
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
    /// From the root down always the folder that has waited longest for a turn; among equals who came first.
    fn fairest(&self) -> Option<usize> {
        let mut left: Vec<usize> = (0..self.waiting.len()).collect();
        for depth in 0..=DEEPEST {
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

impl Drop for Turn {
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

    /// The folders in the order in which they have their turns, when all of `claims` ask while the first has its own.
    fn order(queue: &'static FairQueue, claims: &[(&'static str, u8, usize)]) -> Vec<&'static str> {
        let order = RefCell::new(Vec::new());
        let all = async {
            let claimant =
                |folder: &str, client| Claimant::new(Path::new(folder), Some(IpAddr::from([192, 0, 2, client])));
            let first = queue.turn(claimant("/first", 0), 0).await;
            let mut asked: Vec<_> = claims
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
                asked.retain_mut(|waiting| waiting.as_mut().poll(cx).is_pending());
                first.take();
                if asked.is_empty() { Poll::Ready(()) } else { Poll::Pending }
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

    /// Whether it has no turn yet.
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
