//! Active checks of members of balancers, in the front's first thread.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use tokio::task::spawn_local;
use tokio::time::sleep;

use super::tls::alpn;
use crate::generation::Generation;
use crate::request::services::Services;
use base::log;
use config::proxy::BackendTls;
use config::proxy::balancer::{Balancer, BalancerMember};
use config::without_port;
use proxy::balancer::{CheckConnection, check};
use proxy::{BackendHandshake, Waits};

/// Bounds of the interval at which due checks are looked for.
const MIN_LOOK: Duration = Duration::from_millis(50);
const MAX_LOOK: Duration = Duration::from_secs(1);

/// Checks the members of a generation's balancers while it serves. Ends at once without such members.
pub async fn watch(services: Rc<Services>, generation: Arc<Generation>) {
    let members =
        |balancer: &Balancer| balancer.members.iter().filter_map(|member| Some(member.check.as_ref()?.interval)).min();
    let Some(shortest) = generation.config.balancers.iter().filter_map(members).min() else { return };
    let look = (shortest / 2).clamp(MIN_LOOK, MAX_LOOK);
    while !generation.is_superseded() && !services.shared.is_stopping() {
        begin_due(&services, &generation);
        sleep(look).await;
    }
}

fn begin_due(services: &Rc<Services>, generation: &Arc<Generation>) {
    for (number, balancer) in generation.config.balancers.iter().enumerate() {
        let states = services.balancers.states(balancer);
        for (index, (member, state)) in balancer.members.iter().zip(states).enumerate() {
            let Some(check) = &member.check else { continue };
            if member.status.stopped || state.checked.is_some_and(|last| last.elapsed() < check.interval) {
                continue;
            }
            services.balancers.change(balancer, member, |state| state.checked = Some(Instant::now()));
            spawn_local(one(services.clone(), generation.clone(), number, index));
        }
    }
}

async fn one(services: Rc<Services>, generation: Arc<Generation>, balancer: usize, member: usize) {
    let Some(balancer) = generation.config.balancers.get(balancer) else { return };
    let Some(member) = balancer.members.get(member) else { return };
    let Some(rules) = &member.check else { return };
    let piece = member.parameters.timeout.unwrap_or(generation.config.timeouts.client);
    let waits = Waits { piece, body: piece, connect: member.parameters.connection_timeout.unwrap_or(piece) };
    let result = match handshake(&generation, balancer, member) {
        Ok(tls) => check(&services.backends, member, rules, CheckConnection { waits, tls }).await,
        Err(why) => Err(why),
    };
    note(&services, balancer, member, result);
}

fn handshake(
    generation: &Generation,
    balancer: &Balancer,
    member: &BalancerMember,
) -> Result<Option<BackendHandshake>, String> {
    if !member.url.scheme.is_secure() {
        return Ok(None);
    }
    let config = &generation.config;
    let mut tls = BackendTls::default();
    for host in [0, usize::from(balancer.host)] {
        let section = config.hosts.get(host).and_then(|host| config.sections.get(usize::from(host.base)));
        section.into_iter().for_each(|section| tls.merge(&section.own.proxy.tls));
    }
    let client = generation.tls().backends.of(&tls, alpn(&member.url))?;
    let host = without_port(&member.url.authority).trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|_| "the host of the member is no valid name for TLS".to_owned())?;
    Ok(Some(BackendHandshake { client, name, is_of_client: false }))
}

/// Counts a result, and turns the member off or on after enough of the same.
fn note(services: &Services, balancer: &Balancer, member: &BalancerMember, result: Result<(), String>) {
    let Some(rules) = &member.check else { return };
    let mut turned = false;
    services.balancers.change(balancer, member, |state| {
        if state.unhealthy != result.is_ok() {
            // The result confirms the state.
            state.checks_in_a_row = 0;
            return;
        }
        state.checks_in_a_row += 1;
        let enough = if state.unhealthy { rules.passes } else { rules.fails };
        if state.checks_in_a_row >= enough {
            turned = true;
            state.checks_in_a_row = 0;
            state.unhealthy = !state.unhealthy;
            state.failed = state.failed.filter(|_| state.unhealthy);
        }
    });
    let (name, url) = (&balancer.name, &member.url);
    match result {
        _ if !turned => {}
        Ok(()) => {
            log::warn("proxy", format_args!("balancer://{name}: {url} passes its checks, and gets requests again"))
        }
        Err(why) => {
            log::error("proxy", format_args!("balancer://{name}: {url} fails its checks, and gets no requests: {why}"))
        }
    }
}
