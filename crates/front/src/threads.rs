//! The threads of the front. Each owns its connections and has its own runtime, caches and rings. Shared state (pool,
//! logs, limits, register of connections) is behind locks that are held briefly.
//!
//! ```text
//!   first thread                                     further threads (FrontThreads - 1)
//!     control, clock, scoreboard
//!     accept loops, permits ──── Handover ─────────▶ ConnectionServer
//!     its own connections                            its own connections
//!          │                                              │
//!          └──────────────▶ SharedPool ◀──────────────────┘        ◀── Notice ──▶ for requests of another thread
//! ```
//!
//! Threads are started when a configuration needs them, and end with the process. A thread beyond a later
//! configuration's number gets no new connections. A panic in any thread ends the process ([`panics`](super::panics)).

use std::io;
use std::rc::Rc;
use std::thread::Builder;

use tokio::runtime::{Builder as RuntimeBuilder, LocalOptions, LocalRuntime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{JoinHandle, spawn_local};

use super::Front;
use super::accept::{ConnectionServer, Handover};
use super::base::turn;
use super::request::services::Services;
use super::workers::{self, Mailbox, mailbox};
use base::log;

/// Creates the runtime of this thread.
pub fn runtime() -> io::Result<LocalRuntime> {
    turn::look_with(workers::look);
    RuntimeBuilder::new_current_thread()
        .enable_all()
        .on_thread_park(workers::before_sleep)
        .build_local(LocalOptions::default())
}

/// Makes this thread, the first, receive notices of the pools.
pub fn first(front: &Front) -> JoinHandle<()> {
    let (address, mailbox) = mailbox();
    front.mailboxes.add(address);
    spawn_local(receive(front.services.clone(), mailbox))
}

impl Front {
    /// Starts threads until there are `wanted`, including the first. If the system refuses one, the existing threads
    /// serve all connections.
    pub(super) fn start_threads(&self, wanted: usize) {
        for number in (0..=u8::MAX).take(wanted).skip(self.acceptor.threads()) {
            if let Err(error) = self.start_thread(number) {
                let advice = "see ulimit -u of User, systemd's TasksMax";
                return log::warn(
                    "front",
                    format_args!(
                        "the front has {number} threads rather than the {wanted} of FrontThreads: {error}; {advice}"
                    ),
                );
            }
        }
    }

    fn start_thread(&self, number: u8) -> io::Result<()> {
        let (way, handovers) = unbounded_channel();
        let (address, mailbox) = mailbox();
        let (common, limit) = (self.common.clone(), self.acceptor.limit().clone());
        let live = move || {
            let runtime = runtime();
            let serve = async move {
                let services = Rc::new(Services::new(&common, number));
                spawn_local(receive(services.clone(), mailbox));
                take_over(ConnectionServer::new(services, limit), handovers).await;
            };
            match runtime {
                Ok(runtime) => runtime.block_on(serve),
                Err(error) => panic!("a thread of the front has no runtime: {error}"),
            }
        };
        // Linux shows 15 bytes of a thread's name.
        Builder::new().name(format!("front-{number}")).spawn(live)?;
        self.mailboxes.add(address);
        self.acceptor.add_thread(way);
        Ok(())
    }
}

/// Serves the connections that the first thread hands over, until that thread ends.
async fn take_over(server: ConnectionServer, mut handovers: UnboundedReceiver<Handover>) {
    while let Some(handover) = handovers.recv().await {
        server.serve(handover);
    }
}

/// Passes notices of all pools to their requests. Looking up a view drops the views of generations that are over.
async fn receive(services: Rc<Services>, mut mailbox: Mailbox) {
    while let Some((id, notice)) = mailbox.recv().await {
        if let Some(view) = services.generations.get(id.generation) {
            view.workers.of(id.pool).receive(notice);
        }
    }
}
