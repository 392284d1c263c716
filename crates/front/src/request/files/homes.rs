//! Homes of users, for `UserDir`, from the user database of the system (nsswitch.conf). A lookup may wait for a
//! directory on the network, and clients choose the names, so lookups have few threads, a deadline and a short cache.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use crate::base::blocking::{MAX_LOOKING_UP, NoThread, look_up};
use crate::base::refusal::Refusal;
use base::cache::BoundedCache;
use sys::privileges::home_of;

/// Deadline of a request for a home, with the wait for a thread.
const DEADLINE: Duration = Duration::from_secs(5);
/// Time for which a home, or that there is no such user, is remembered.
const GOOD_FOR: Duration = Duration::from_secs(5);
/// Maximum number of names that a thread remembers.
const MAX_NAMES: usize = 1000;
/// Maximum length of a user's name in bytes: Linux's LOGIN_NAME_MAX without the NUL.
const MAX_NAME: usize = 255;

/// One permit for each thread of [`look_up`], of the whole process. A request that has gone gives up its place in the
/// queue; a lookup that has begun holds its permit until the database answers.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_LOOKING_UP)));

type Find = dyn Fn(&str) -> io::Result<Option<PathBuf>> + Send + Sync;
type Home = Option<Rc<str>>;

/// The homes that a thread has looked up.
pub struct Homes {
    find: Arc<Find>,
    turns: Arc<Semaphore>,
    deadline: Duration,
    good_for: Duration,
    known: RefCell<BoundedCache<String, CachedHome, MAX_NAMES>>,
}

struct CachedHome {
    since: Instant,
    /// Empty while the first request looks it up, and after errors.
    home: Rc<OnceCell<Home>>,
}

/// The error of a lookup that found neither a home nor its absence. The request is answered with 503.
#[derive(Debug)]
pub enum NoHome {
    NoThread,
    Late,
    Failed(io::Error),
}

impl Default for Homes {
    fn default() -> Homes {
        Homes {
            find: Arc::new(home_of),
            turns: TURNS.clone(),
            deadline: DEADLINE,
            good_for: GOOD_FOR,
            known: RefCell::default(),
        }
    }
}

impl Homes {
    /// The home of a user, without a slash at its end. `None`: there is no such user, or the home's path is not UTF-8,
    /// as a path from a URL is. Concurrent requests for the same user share one lookup.
    pub async fn of(&self, user: &str) -> Result<Home, NoHome> {
        if user.len() > MAX_NAME {
            return Ok(None);
        }
        let cell = self.cell(user);
        let home = cell.get_or_try_init(|| self.look_up(user.to_owned()));
        timeout(self.deadline, home).await.map_err(|_| NoHome::Late)?.cloned()
    }

    fn cell(&self, user: &str) -> Rc<OnceCell<Home>> {
        let mut known = self.known.borrow_mut();
        if let Some(good) = known.get(user).filter(|known| known.since.elapsed() < self.good_for) {
            return good.home.clone();
        }
        let home = Rc::default();
        known.put(user.to_owned(), CachedHome { since: Instant::now(), home: Rc::clone(&home) });
        home
    }

    async fn look_up(&self, user: String) -> Result<Home, NoHome> {
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| NoHome::NoThread)?;
        let find = self.find.clone();
        let found = look_up("look up the home of a user", move || {
            let home = find(&user);
            drop(turn);
            home
        });
        let home = found.await?.map_err(NoHome::Failed)?;
        Ok(home.and_then(|home| home.to_str().map(|home| home.trim_end_matches('/').into())))
    }
}

impl From<NoThread> for NoHome {
    fn from(_: NoThread) -> NoHome {
        NoHome::NoThread
    }
}

impl From<NoHome> for Refusal {
    fn from(_: NoHome) -> Refusal {
        Refusal::busy()
    }
}

impl fmt::Display for NoHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoHome::NoThread => f.write_str("there is no thread for the lookup"),
            NoHome::Late => write!(
                f,
                "the user database has not answered within {DEADLINE:?}; see passwd in /etc/nsswitch.conf and the \
                 services that it names"
            ),
            NoHome::Failed(error) => {
                write!(f, "cannot read the user database: {error}; see passwd in /etc/nsswitch.conf")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use tokio::runtime::Builder;

    use super::*;

    /// A thread's homes in a database, which counts its calls.
    fn homes(find: impl Fn(&str) -> io::Result<Option<PathBuf>> + Send + Sync + 'static) -> (Homes, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let find = move |user: &str| {
            counted.fetch_add(1, Ordering::SeqCst);
            find(user)
        };
        let turns = Arc::new(Semaphore::new(MAX_LOOKING_UP));
        let long = Duration::from_secs(3600);
        (Homes { find: Arc::new(find), turns, deadline: long, good_for: long, known: RefCell::default() }, calls)
    }

    fn wait_for<T>(future: impl Future<Output = T>) -> T {
        Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
    }

    fn database(user: &str) -> io::Result<Option<PathBuf>> {
        match user {
            "ann" => Ok(Some(PathBuf::from("/home/ann/"))),
            "broken" => Err(io::Error::other("broken")),
            _ => Ok(None),
        }
    }

    #[test]
    fn homes_and_their_absence_are_remembered_but_no_error() {
        let (mut homes, calls) = homes(database);
        wait_for(async {
            for _ in 0..3 {
                assert_eq!(homes.of("ann").await.expect("an answer").as_deref(), Some("/home/ann"));
                assert_eq!(homes.of("bob").await.expect("an answer"), None);
            }
            assert_eq!(calls.load(Ordering::SeqCst), 2);
            for _ in 0..3 {
                let error = homes.of("broken").await.expect_err("an error");
                assert!(error.to_string().starts_with("cannot read the user database: broken; "), "{error}");
                assert_eq!(Refusal::from(error).status, 503);
            }
            assert_eq!(calls.load(Ordering::SeqCst), 5);
            assert_eq!(homes.of(&"x".repeat(MAX_NAME + 1)).await.expect("an answer"), None);
            assert_eq!(calls.load(Ordering::SeqCst), 5);
            homes.good_for = Duration::ZERO;
            assert_eq!(homes.of("ann").await.expect("an answer").as_deref(), Some("/home/ann"));
            assert_eq!(calls.load(Ordering::SeqCst), 6);
        });
    }

    #[test]
    fn a_hanging_database_means_503_and_no_lookup_for_requests_that_have_gone() {
        let (go, gone) = channel::<()>();
        let gone = Mutex::new(gone);
        let (mut homes, calls) = homes(move |user| {
            let _ = gone.lock().expect("no panic").recv();
            database(user)
        });
        homes.deadline = Duration::from_millis(20);
        wait_for(async {
            for user in 0..MAX_LOOKING_UP {
                let error = homes.of(&user.to_string()).await.expect_err("it hangs");
                assert!(matches!(error, NoHome::Late), "{error:?}");
            }
            assert_eq!(homes.turns.available_permits(), 0);
            for user in 100..120 {
                let error = homes.of(&user.to_string()).await.expect_err("no thread is free");
                assert_eq!(Refusal::from(error).status, 503);
            }
            drop(go);
            homes.deadline = Duration::from_secs(3600);
            assert_eq!(homes.of("ann").await.expect("an answer").as_deref(), Some("/home/ann"));
            while homes.turns.available_permits() < MAX_LOOKING_UP {
                tokio::task::yield_now().await;
            }
            assert_eq!(calls.load(Ordering::SeqCst), MAX_LOOKING_UP + 1);
        });
    }

    #[test]
    fn requests_for_one_user_share_a_lookup() {
        let (homes, calls) = homes(database);
        let (one, two, three) = wait_for(async { tokio::join!(homes.of("ann"), homes.of("ann"), homes.of("ann")) });
        assert!([one, two, three].iter().all(|home| matches!(home, Ok(Some(home)) if &**home == "/home/ann")));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}
