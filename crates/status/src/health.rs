//! Whether a server lives and whether it can answer: for engines of containers, load balancers and service managers.

use wire::control::{NodeState, NodeStatus, WorkerState, WorkerStatus};

use super::ServerStatus;

/// A text that says why a check fails.
pub type Checked = Result<(), String>;

/// Whether the front answers the master, which does not ask it before the first code serves, nor during a stop.
pub fn is_alive(status: &ServerStatus) -> Checked {
    let answers_are_due = status.generation > 0 && !status.stopping;
    if status.front.is_some() || !answers_are_due { Ok(()) } else { Err("the front does not answer".to_owned()) }
}

/// Whether requests can be answered: code serves, the server does not stop, and each pool has a worker that is ready.
/// Busy workers count: a queue is no reason to send a client elsewhere.
pub fn is_ready(status: &ServerStatus) -> Checked {
    if status.stopping {
        return Err(STOPPING.to_owned());
    }
    if status.generation == 0 {
        return Err(STARTING.to_owned());
    }
    is_alive(status)?;
    is_welcoming(&status.node)?;
    let serving: Vec<&WorkerStatus> =
        status.workers().iter().filter(|worker| worker.generation == status.generation).collect();
    let pools = status.front.iter().flat_map(|front| &front.pools).filter(|pool| pool.perl_generation > 0);
    let mut names: Vec<&str> = pools.map(|pool| pool.name.as_str()).collect();
    if names.is_empty() {
        names.push("");
    }
    let has_ready = |pool: &str| serving.iter().any(|worker| worker.pool == pool && is_ready_state(worker.state));
    names.into_iter().find(|pool| !has_ready(pool)).map_or(Ok(()), |pool| Err(no_worker(pool)))
}

/// Whether the administrator wants requests, and all services are there that the server depends on. Strangers get the
/// text, so it has no reasons: the site's code writes them, and they may have names of users and hosts.
pub fn is_welcoming(node: &NodeStatus) -> Checked {
    match node.state {
        NodeState::Draining => return Err(DRAINING.to_owned()),
        NodeState::Maintenance => return Err(MAINTENANCE.to_owned()),
        NodeState::Ready => {}
    }
    let failed = node.checks.iter().find(|check| check.failure.is_some());
    failed.map_or(Ok(()), |check| Err(format!("ReadinessCheck {}: not ready", check.name)))
}

/// The server ends after its current requests.
pub const STOPPING: &str = "the server stops";
/// The server stops soon, and load balancers are to send requests elsewhere.
pub const DRAINING: &str = "the server drains";
/// Load balancers are to send requests elsewhere, until `cameleer maint off`.
pub const MAINTENANCE: &str = "the server is in maintenance";
/// No code has been loaded yet.
pub const STARTING: &str = "the server starts";

/// No worker of this pool is ready; the name is empty if there is only one pool.
pub fn no_worker(pool: &str) -> String {
    if pool.is_empty() { "no worker is ready".to_owned() } else { format!("no worker of pool {pool} is ready") }
}

fn is_ready_state(state: WorkerState) -> bool {
    matches!(state, WorkerState::Idle | WorkerState::Busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::control::{DependencyStatus, FrontStatus, PoolStatus};

    fn status(workers: Vec<WorkerStatus>) -> ServerStatus {
        let front = FrontStatus { workers, ..FrontStatus::default() };
        ServerStatus { generation: 2, front: Some(front), ..ServerStatus::default() }
    }

    fn worker(generation: u32, pool: &str, state: WorkerState) -> WorkerStatus {
        WorkerStatus { generation, pool: pool.to_owned(), state, ..WorkerStatus::default() }
    }

    #[test]
    fn a_server_is_ready_when_a_worker_of_the_serving_code_is_ready() {
        let ready = |workers| is_ready(&status(workers));
        assert_eq!(ready(vec![worker(2, "", WorkerState::Busy)]), Ok(()), "a full pool is ready");
        assert_eq!(ready(vec![worker(1, "", WorkerState::Idle)]), Err(no_worker("")), "older code drains");
        assert_eq!(ready(vec![worker(2, "", WorkerState::Starting)]), Err(no_worker("")));
        let starting = ServerStatus { generation: 0, ..status(Vec::new()) };
        assert_eq!(is_ready(&starting), Err(STARTING.to_owned()));
        let stopping = ServerStatus { stopping: true, ..status(vec![worker(2, "", WorkerState::Idle)]) };
        assert_eq!((is_ready(&stopping), is_alive(&stopping)), (Err(STOPPING.to_owned()), Ok(())));
        let hung = ServerStatus { front: None, ..status(Vec::new()) };
        assert_eq!(is_alive(&hung), is_ready(&hung));
        assert!(is_alive(&hung).is_err());
    }

    #[test]
    fn a_server_that_drains_or_lacks_a_service_is_not_ready_and_lives() {
        let with = |node: NodeStatus| ServerStatus { node, ..status(vec![worker(2, "", WorkerState::Idle)]) };
        for (state, why) in [(NodeState::Draining, DRAINING), (NodeState::Maintenance, MAINTENANCE)] {
            let leaving = with(NodeStatus { state, ..NodeStatus::default() });
            assert_eq!((is_ready(&leaving), is_alive(&leaving)), (Err(why.to_owned()), Ok(())));
        }
        let check = |name: &str, failure: Option<&str>| DependencyStatus {
            name: name.to_owned(),
            failure: failure.map(str::to_owned),
        };
        let checks = vec![check("cache", None), check("db", Some("connection refused"))];
        let lacking = with(NodeStatus { checks, ..NodeStatus::default() });
        assert_eq!(is_ready(&lacking), Err("ReadinessCheck db: not ready".to_owned()));
    }

    #[test]
    fn each_pool_with_perl_needs_a_ready_worker() {
        let mut several = status(vec![worker(2, "default", WorkerState::Idle)]);
        let pool = |name: &str, perl_generation| PoolStatus {
            name: name.to_owned(),
            perl_generation,
            ..PoolStatus::default()
        };
        if let Some(front) = &mut several.front {
            front.pools = vec![pool("default", 1), pool("slow", 2), pool("cgi", 0)];
        }
        assert_eq!(is_ready(&several), Err(no_worker("slow")));
    }
}
