//! Handles the messages of the master.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use wire::control::{FromFront, GenerationNumber, Listener, PoolId, ToFront};
use wire::transport::SocketFront;

use super::Front;
use super::base::lock::lock;
use super::generation::{Generation, Prepared};
use super::request::proxied::health;
use super::request::purge_url;
use super::shared_cache;
use super::workers::{Worker, spool, take_over};
use base::log;
use tls::Challenges;

/// Handles messages until the master ends the front or the front is drained.
pub async fn serve(front: &Rc<Front>) -> anyhow::Result<()> {
    let master = &front.shared().master;
    loop {
        let received = tokio::select! {
            message = master.receive() => message.context("cannot read from the control channel")?,
            () = front.drained.notified() => return Ok(()),
        };
        let Some((message, fds)) = received else { bail!("the master has ended") };
        if matches!(message, ToFront::Exit) {
            return Ok(());
        }
        let generation = prepares(&message);
        let Err(error) = execute(front, message, fds) else { continue };
        log::error("front", format_args!("{error:#}"));
        if let Some(generation) = generation {
            master.send(FromFront::Refused { generation, error: format!("{error:#}") });
        }
    }
}

/// The generation that cannot serve if this message fails.
fn prepares(message: &ToFront) -> Option<GenerationNumber> {
    match message {
        ToFront::Configure { generation, .. } | ToFront::Activate { generation } => Some(*generation),
        _ => None,
    }
}

fn execute(front: &Rc<Front>, message: ToFront, fds: Vec<OwnedFd>) -> anyhow::Result<()> {
    let master = &front.shared().master;
    let mut fds = fds.into_iter();
    match message {
        ToFront::Configure { generation: number, logs, listeners, software } => {
            let bundle = fds.next().context("the message Configure has no descriptor of the configuration")?;
            let identities = fds.next().context("the message Configure has no descriptor of the certificates")?;
            let logs = fds.by_ref().take(logs).collect();
            let prepared = Prepared { bundle, identities, logs, listeners: named(listeners, fds)?, software };
            configure(front, number, prepared)?;
        }
        ToFront::Certificates { generation: number } => {
            let identities = fds.next().context("the message Certificates has no descriptor of the certificates")?;
            front.generations().get(number)?.renew_identities(&front.sessions, identities)?;
        }
        ToFront::Challenges { serial, challenges } => {
            front.shared().set_challenges(Challenges::new(challenges)?);
            master.send(FromFront::Challenged { serial });
        }
        ToFront::Worker { worker, pool, adopted } => {
            let socket = fds.next().context("the message Worker has no descriptor of the socket")?;
            let theirs = fds.next().context("the message Worker has no descriptor of the socket's other end")?;
            let memory = fds.next().context("the message Worker has no descriptor of the shared memory")?;
            let blocks = front.generations().get(pool.generation)?.config.pool.blocks;
            let socket = SocketFront::new(socket, theirs, sys::map_memory(&memory)?, blocks)?;
            add_worker(front, pool, Worker::new(worker, socket, adopted), adopted)?;
        }
        ToFront::Forked { slot, pid } => forked(front, slot, pid),
        ToFront::Gone { slot } => {
            if let Some(worker) = front.generations().worker(slot, |_| true) {
                worker.set_ended();
            }
        }
        ToFront::Activate { generation: number } => activate(front, &front.generations().get(number)?)?,
        ToFront::Retire { pool, count } => {
            if let Some(generation) = front.generations().serving() {
                generation.pools.of(pool).leave_idle(count as usize);
                front.shared().clock.start();
            }
        }
        ToFront::Admit { pool, most } => {
            if let Some(generation) = front.generations().serving() {
                generation.pools.of(pool).admit(most);
                front.shared().clock.start();
            }
        }
        ToFront::Inspect { worker, what } => {
            let into = fds.next().context("the message Inspect has no descriptor for the report")?;
            let done = fds.next().context("the message Inspect has no descriptor that marks the report's end")?;
            let with: Vec<OwnedFd> = fds.collect();
            if let Some(worker) = front.generations().worker(worker.slot, |known| known.id == worker) {
                let with: Vec<BorrowedFd<'_>> = with.iter().map(AsFd::as_fd).collect();
                worker.inspect(what, into.as_fd(), done.as_fd(), &with);
            }
        }
        ToFront::Leave { worker } => {
            if let Some(generation) = front.generations().serving() {
                generation.pools.iter().for_each(|pool| pool.dismiss(worker));
            }
        }
        ToFront::Promote { worker } => {
            let control = fds.next().context("the message Promote has no descriptor of the control channel")?;
            if let Some(generation) = front.generations().serving()
                && let Some(pool) = generation.pools.iter().find(|pool| pool.has(worker))
            {
                pool.promote(worker, control);
            }
        }
        ToFront::Logs => reopen_logs(front, fds)?,
        ToFront::Counts(counts) => front.shared().set_counts(counts),
        ToFront::Node(node) => {
            if front.shared().set_node(node) {
                front.common.connections.wake_all();
            }
        }
        ToFront::Status => master.send(FromFront::Status(Box::new(front.services.status()))),
        ToFront::Purge { client, url } => purge(front, client, url),
        ToFront::Ping => master.send(FromFront::Alive),
        ToFront::Stop => front.stop(),
        ToFront::Exit => {}
    }
    Ok(())
}

/// Makes a generation. It gets no request before it is activated.
fn configure(front: &Rc<Front>, number: GenerationNumber, prepared: Prepared) -> anyhow::Result<()> {
    let generation = Generation::new(front.shared(), &front.mailboxes, &front.sessions, number, prepared)?;
    // Drops privileges before any client is served. A front that fails here is never activated.
    sys::privileges::become_user(generation.config.user.as_deref(), generation.config.group.as_deref())?;
    spool::try_out(&generation.config.spooling);
    front.start_threads(generation.config.clients.threads());
    front.generations().add(Arc::new(generation));
    front.shared().master.send(FromFront::Configured { generation: number });
    Ok(())
}

fn add_worker(front: &Rc<Front>, id: PoolId, worker: Worker, adopted: bool) -> anyhow::Result<()> {
    let generation = front.generations().get(id.generation)?;
    let (pool, worker) = (generation.pools.of(id.pool), Arc::new(worker));
    front.mailboxes.listen(pool.id, &worker, worker.ways(front.acceptor.threads())?);
    pool.add(worker.clone(), adopted);
    if adopted {
        take_over(pool, &worker, generation.config.timeouts.graceful);
    }
    Ok(())
}

/// Notes the pid of a worker, which its pool can use from now on.
fn forked(front: &Front, slot: u32, pid: i32) {
    if let Some(worker) = front.generations().worker(slot, |worker| worker.pid() == 0)
        && worker.set_pid(pid)
    {
        let generations = front.generations().all();
        generations.iter().flat_map(|one| one.pools.iter()).for_each(|pool| pool.employ(worker.id));
    }
}

/// Purges in a task of its own, because it may take a while.
fn purge(front: &Rc<Front>, client: u64, url: String) {
    let front = front.clone();
    tokio::task::spawn_local(async move {
        let outcome = purge_url(front.generations(), &url).await;
        front.shared().master.send(FromFront::Purged { client, outcome });
    });
}

fn named(listeners: Vec<Listener>, fds: impl Iterator<Item = OwnedFd>) -> anyhow::Result<Vec<(String, OwnedFd)>> {
    let count = listeners.len();
    let named: Vec<_> = listeners.into_iter().map(|listener| listener.address).zip(fds).collect();
    if named.len() < count {
        bail!("the message Configure has fewer descriptors of listeners than names");
    }
    Ok(named)
}

fn activate(front: &Rc<Front>, generation: &Arc<Generation>) -> anyhow::Result<()> {
    generation.config.apply_log_levels(None);
    front.generations().serve_with(generation);
    front.shared().serves(generation.number);
    front.services.balancers.retain(&generation.config.balancers);
    // The view of this thread connects to the store of LimitStore now, not with the first request.
    front.services.generations.serving();
    front.transport.set(&front.shared().broadcasts, generation.config.broadcast_store.as_ref());
    shared_cache::start(generation);
    end_earlier_held(front, generation);
    tokio::task::spawn_local(health::watch(front.services.clone(), generation.clone()));
    front.shared().clock.start();
    front.acceptor.use_threads(generation.config.clients.threads());
    let listeners = std::mem::take(&mut *lock(&generation.listeners));
    if !listeners.is_empty() && !front.shared().is_stopping() {
        front.listeners.set(&front.acceptor, listeners)?;
    }
    Ok(())
}

/// Ends responses that the front holds with earlier configurations, which would stay in memory as long as the clients.
fn end_earlier_held(front: &Front, serving: &Generation) {
    let (graceful, number) = (serving.config.timeouts.graceful, serving.number);
    // As for requests, a GracefulShutdownTimeout of 0 is no limit.
    if !graceful.is_zero() {
        let broadcasts = front.shared().broadcasts.clone();
        tokio::task::spawn_local(async move {
            tokio::time::sleep(graceful).await;
            broadcasts.end_earlier_held(number).await;
        });
    }
}

fn reopen_logs(front: &Front, mut fds: impl Iterator<Item = OwnedFd>) -> anyhow::Result<()> {
    let error_log = fds.next().context("the message Logs has no descriptor of the error log")?;
    nix::unistd::dup2_stderr(&error_log)?;
    for generation in front.generations().all().iter() {
        generation.pools.iter().for_each(|pool| pool.reopen_logs(0, &[error_log.as_fd()]));
    }
    let Some(generation) = front.generations().serving() else { return Ok(()) };
    let access_logs = fds.by_ref().take(generation.config.logs.len()).collect();
    let hosts: Vec<_> = fds.collect();
    let host_logs: Vec<BorrowedFd<'_>> = hosts.iter().map(AsFd::as_fd).collect();
    generation.pools.iter().for_each(|pool| pool.reopen_logs(1, &host_logs));
    generation.error_logs.reopen(hosts);
    generation.access_logs.reopen(access_logs)
}
