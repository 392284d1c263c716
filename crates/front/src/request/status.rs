//! The front's part of `cameleer status`: its counters, pools, workers and balancers.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Instant, UNIX_EPOCH};

use wire::control::{
    CertificateStatus, FrontStatus, Load, MemberStatusReport, PoolStatus, ResponseTimes, SharedStoreStatus, Spreads,
};

use super::services::Services;
use crate::generation::Generation;
use crate::workers::SharedPool;
use base::printable;
use config::Host;
use config::proxy::balancer::{Balancer, BalancerMember};
use proxy::balancer::MemberState;
use tls::server::HostTls;

/// Maximum number of idle clients listed in a status; the total count is always included.
const SHOWN_CLIENTS: usize = 100;

impl Services {
    /// The front's part of `cameleer status`.
    pub fn status(&self) -> FrontStatus {
        let (counters, generations) = (&self.shared.counters, self.generations.all().all());
        let (kept, kept_clients) = self.connections.kept(SHOWN_CLIENTS);
        let serving = self.generations.all().serving();
        let totals = self.shared.measures.totals();
        let pools = || generations.iter().flat_map(|generation| generation.pools.iter());
        FrontStatus {
            started_s: self.shared.started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            software: serving.as_ref().map(|serving| serving.software.clone()).unwrap_or_default(),
            name: serving
                .as_ref()
                .and_then(|serving| serving.config.hosts.first()?.server_name.clone())
                .unwrap_or_default(),
            bytes: counters.bytes.load(Relaxed),
            duration_ms: counters.duration_us.load(Relaxed) / 1000,
            spreads: Some(Spreads::from(&totals)),
            connections: self.connections.count() as u64,
            kept: kept as u64,
            kept_clients,
            requests: counters.requests.load(Relaxed),
            worker_requests: counters.worker_requests.load(Relaxed),
            handed_over: counters.handed_over.load(Relaxed),
            worked_us: serving
                .as_ref()
                .map_or(0, |serving| serving.pools.iter().map(|pool| pool.worked().as_micros() as u64).sum()),
            shed: counters.shed.now(),
            broadcast: self.shared.broadcasts.status(),
            broadcast_transport: self.shared.broadcasts.transport(),
            stores: serving.as_ref().map(|serving| stores_of(serving)).unwrap_or_default(),
            slow_readers: counters.slow_readers.load(Relaxed),
            http2_closed: counters.http2_closed.load(Relaxed),
            overloaded: pools().any(|pool| pool.is_overloaded()),
            shares: serving.iter().flat_map(|serving| serving.pools.iter()).flat_map(|pool| pool.shares()).collect(),
            members: serving.as_ref().map(|serving| self.members_of(serving)).unwrap_or_default(),
            queued: pools().map(|pool| pool.queued()).sum(),
            pools: serving.as_ref().map(|serving| pools_of(serving)).unwrap_or_default(),
            times: ResponseTimes::from(&totals),
            hosts: (&totals).into(),
            certificates: serving.as_ref().map(|serving| certificates_of(serving)).unwrap_or_default(),
            codes: totals.codes,
            slowest: self.shared.slowest.list(),
            workers: generations
                .iter()
                .flat_map(|generation| generation.pools.iter().flat_map(|pool| pool.status(&generation.config)))
                .collect(),
        }
    }

    fn members_of(&self, serving: &Generation) -> Vec<MemberStatusReport> {
        let of = |balancer: &Balancer| {
            let states = self.balancers.states(balancer);
            let report = |(member, state): (&BalancerMember, MemberState)| MemberStatusReport {
                balancer: balancer.name.clone(),
                url: member.url.to_string(),
                route: member.route.clone(),
                state: state.name(member, Instant::now()).to_owned(),
                elected: state.elected,
                busy: state.busy,
                to_member: state.to_member,
                from_member: state.from_member,
            };
            balancer.members.iter().zip(states).map(report).collect::<Vec<_>>()
        };
        serving.config.balancers.iter().flat_map(of).collect()
    }
}

/// The stores that the serving generation shares with other servers.
fn stores_of(serving: &Generation) -> Vec<SharedStoreStatus> {
    let limits = serving.limit_report.iter().map(|report| report.status());
    let cache = serving.cache.as_ref().and_then(|cache| cache.shared());
    limits.chain(cache.map(|shared| shared.report().status())).collect()
}

/// The certificates that the hosts present.
fn certificates_of(serving: &Generation) -> Vec<CertificateStatus> {
    let tls = serving.tls();
    let hosts = (0..).zip(&serving.config.hosts);
    let of = |(index, host): (u16, &Host)| {
        let name = host.server_name.as_deref().map(printable::line).unwrap_or_default();
        let ends = tls.of(index).map(HostTls::expiries).unwrap_or_default();
        ends.into_iter().map(move |expires_s| CertificateStatus { host: name.clone(), expires_s })
    };
    hosts.flat_map(of).collect()
}

/// The status of each pool; empty if there is only one.
fn pools_of(serving: &Generation) -> Vec<PoolStatus> {
    let status = |pool: &Arc<SharedPool>| {
        let Load { id, idle, busy, queued } = pool.load();
        let name = serving.config.pool_name(id.pool).to_owned();
        let generation = serving.config.api_number(id.pool);
        let most = serving.config.pool_of(id.pool).max_clients;
        PoolStatus { name, perl_generation: generation, idle, busy, queued, most, overloaded: pool.is_overloaded() }
    };
    if serving.pools.are_several() { serving.pools.iter().map(status).collect() } else { Vec::new() }
}
