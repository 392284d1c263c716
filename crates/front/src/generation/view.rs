//! A generation as one thread sees it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use derive_more::Deref;
use wire::control::GenerationNumber;
use wire::reply::MAX_PACKET;

use super::aside::{Fetched, LookupAttempt};
use super::map_databases::MapDatabases;
use super::map_programs::MapPrograms;
use super::open_files::OpenFiles;
use super::{Generation, Generations};
use crate::base::blocking;
use crate::base::refusal::Refusal;
use crate::limits::pace::SharedPace;
use crate::routing::{NotYet, Routes, once_read};
use crate::workers::{Buffers, Pools, Workers};

/// The state of one thread for a [`Generation`].
#[derive(Deref)]
pub struct View {
    #[deref(forward)]
    generation: Arc<Generation>,
    /// The workers of each pool, and this thread's requests to them.
    pub workers: Pools<Rc<Workers>>,
    /// The routes from paths to files and settings.
    pub routes: Routes,
    /// Opens the generation's files, and caches them.
    pub opener: OpenFiles,
    /// Programs of `RewriteMap` that this thread asks.
    pub map_programs: MapPrograms,
    /// Databases of `RewriteMap` that this thread asks.
    pub map_databases: MapDatabases,
    /// The connection to the store of `LimitStore`, if there is one.
    pub pace: Option<SharedPace>,
}

impl View {
    /// Runs a lookup of files and `.htaccess` files. `ask` may run several times; see `aside`.
    pub async fn wait_for<T>(&self, ask: impl Fn() -> Result<T, NotYet>) -> Result<T, Refusal> {
        let attempt = RefCell::new(LookupAttempt::default());
        loop {
            let ask = || {
                attempt.borrow_mut().take_lacking();
                self.opener.within(&attempt, &ask)
            };
            let answer = once_read(&self.routes, ask).await;
            let Some(lacking) = attempt.borrow_mut().take_lacking() else { return answer };
            let (lacking, fetched) = Box::pin(blocking::run("open a file", move || lacking.fetch())).await?;
            if let Fetched::File(Ok(opened)) = &fetched {
                self.opener.trust_result(lacking.way(), opened);
            }
            attempt.borrow_mut().add(lacking, fetched);
        }
    }
}

/// A view for a request that may need a worker. A superseded generation retains a worker until this is dropped.
#[derive(Deref)]
pub struct InUse(Rc<View>);

impl InUse {
    pub fn new(view: Rc<View>) -> InUse {
        view.users.fetch_add(1, SeqCst);
        InUse(view)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, SeqCst);
    }
}

/// The views of one thread of all generations.
pub struct Views {
    all: Arc<Generations>,
    /// The thread's index.
    thread: u8,
    /// Views of the generations at the last update.
    views: RefCell<Vec<Rc<View>>>,
    serving: RefCell<Option<Rc<View>>>,
    seen: Cell<u64>,
    buffers: Rc<RefCell<Buffers>>,
}

impl Views {
    /// An empty set of views for the thread with index `thread`.
    pub fn new(all: Arc<Generations>, thread: u8) -> Views {
        Views {
            all,
            thread,
            views: RefCell::default(),
            serving: RefCell::default(),
            seen: Cell::new(0),
            buffers: Rc::new(RefCell::new(Buffers { packet: vec![0; MAX_PACKET], entry: Vec::new() })),
        }
    }

    /// The thread's index.
    pub fn thread(&self) -> u8 {
        self.thread
    }

    pub fn all(&self) -> &Generations {
        &self.all
    }

    /// The view of the generation that answers new requests.
    pub fn serving(&self) -> Option<Rc<View>> {
        self.look();
        self.serving.borrow().clone()
    }

    /// The serving view with a registered use. Retries if the generations change meanwhile, so that the use counts
    /// before a worker is drained.
    pub fn use_serving(&self) -> Option<InUse> {
        loop {
            let used = InUse::new(self.serving()?);
            if self.seen.get() == self.all.changes() {
                return Some(used);
            }
        }
    }

    /// The view of the generation with this number, unless it was removed.
    pub fn get(&self, number: GenerationNumber) -> Option<Rc<View>> {
        self.look();
        self.views.borrow().iter().find(|view| view.number == number).cloned()
    }

    /// Updates the views when the list of generations has changed.
    fn look(&self) {
        let changes = self.all.changes();
        if self.seen.replace(changes) == changes {
            return;
        }
        let all = self.all.all();
        let mut views = self.views.borrow_mut();
        views.retain(|view| all.iter().any(|generation| Arc::ptr_eq(generation, &view.generation)));
        for generation in all {
            if !views.iter().any(|view| Arc::ptr_eq(&generation, &view.generation)) {
                views.push(Rc::new(self.view(generation)));
            }
        }
        let serving = self.all.serving();
        let serves = |view: &&Rc<View>| serving.as_ref().is_some_and(|serving| Arc::ptr_eq(serving, &view.generation));
        *self.serving.borrow_mut() = views.iter().find(serves).cloned();
    }

    /// The connection of this thread to the store of `LimitStore`.
    fn pace(&self, generation: &Generation) -> Option<SharedPace> {
        let turns = generation.turns.clone().filter(|_| self.thread == 0);
        SharedPace::start(&generation.config.stores, generation.limit_report.as_ref()?, turns)
    }

    fn view(&self, generation: Arc<Generation>) -> View {
        let config = &generation.config;
        let workers = |number| {
            let pool = generation.pools.of(number).clone();
            Rc::new(Workers::new(pool, self.thread, config, self.buffers.clone()))
        };
        View {
            workers: Pools::new(config.pool_count(), workers),
            routes: Routes::new(&generation.config),
            opener: OpenFiles::new(&generation.config),
            map_programs: MapPrograms::default(),
            map_databases: MapDatabases::default(),
            pace: self.pace(&generation),
            generation,
        }
    }
}
