//! Balancers: the state of members, shared by all threads and over reloads, and the choice of a member.

mod check;
mod choice;

pub use check::{CheckConnection, check};
pub use choice::{MemberChoice, NoMember, choose};

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use config::proxy::balancer::{Balancer, BalancerMember};

/// Time without requests after a member is put in error; httpd's.
const USUAL_RETRY: Duration = Duration::from_secs(60);

/// The members of all balancers. A reload finds the state of a member by the names of balancer and member.
#[derive(Default)]
pub struct Balancers(Mutex<HashMap<(String, String), MemberState>>);

/// Shared by all threads of the front; survives a reload, not a restart.
#[derive(Debug, Clone, Default)]
pub struct MemberState {
    /// When the member was put in error. The current configuration sets how long that lasts.
    pub failed: Option<Instant>,
    /// Whether active checks have found the member down.
    pub unhealthy: bool,
    /// Successful, or if `unhealthy` is false failed, checks in a row.
    pub checks_in_a_row: u32,
    /// When the last check began.
    pub checked: Option<Instant>,
    /// Requests for which the member was chosen.
    pub elected: u64,
    /// Requests that are running.
    pub busy: u32,
    /// Bytes of requests' bodies.
    pub to_member: u64,
    /// Bytes of responses' bodies.
    pub from_member: u64,
    /// The weight of httpd's byrequests.
    pub weight: i64,
}

impl MemberState {
    /// Whether the member is in error at `now`.
    pub fn is_in_error(&self, member: &BalancerMember, now: Instant) -> bool {
        let retry = member.parameters.retry.unwrap_or(USUAL_RETRY);
        !member.status.ignore_errors && self.failed.is_some_and(|failed| failed + retry > now)
    }

    /// The member's state in one word.
    pub fn name(&self, member: &BalancerMember, now: Instant) -> &'static str {
        let status = &member.status;
        let words = [
            (status.stopped, "stopped"),
            (status.disabled, "disabled"),
            (self.unhealthy, "failing"),
            (self.is_in_error(member, now), "error"),
            (status.draining, "draining"),
            (status.hot_standby, "standby"),
            (status.hot_spare, "spare"),
        ];
        words.iter().find(|(holds, _)| *holds).map_or("ok", |(_, word)| word)
    }

    /// Whether the member takes requests at `now`.
    pub fn is_usable(&self, member: &BalancerMember, now: Instant) -> bool {
        let status = &member.status;
        !status.disabled && !status.stopped && !self.unhealthy && !self.is_in_error(member, now)
    }
}

impl Balancers {
    /// The states of a balancer's members, in their order.
    pub fn states(&self, balancer: &Balancer) -> Vec<MemberState> {
        let known = self.lock();
        let state = |member: &BalancerMember| known.get(&key(balancer, member)).cloned();
        balancer.members.iter().map(|member| state(member).unwrap_or_else(|| initial(member))).collect()
    }

    /// Chooses a member, and counts the request as running there.
    pub fn choose(&self, balancer: &Balancer, route: Option<&str>, tried: &[usize]) -> Result<MemberChoice, NoMember> {
        let mut known = self.lock();
        let mut states: Vec<MemberState> = balancer
            .members
            .iter()
            .map(|member| known.get(&key(balancer, member)).cloned().unwrap_or_else(|| initial(member)))
            .collect();
        let chosen = choose(balancer, &mut states, route, tried, Instant::now());
        for (index, (member, mut state)) in balancer.members.iter().zip(states).enumerate() {
            if chosen.as_ref().is_ok_and(|choice| choice.member == index) {
                state.elected += 1;
                state.busy += 1;
            }
            known.insert(key(balancer, member), state);
        }
        chosen
    }

    /// Runs `change` under the lock, so it must not block.
    pub fn change(&self, balancer: &Balancer, member: &BalancerMember, change: impl FnOnce(&mut MemberState)) {
        change(self.lock().entry(key(balancer, member)).or_insert_with(|| initial(member)));
    }

    /// Forgets members that no balancer of the new configuration has, and that answer no request.
    pub fn retain(&self, balancers: &[Balancer]) {
        let names =
            |balancer: &Balancer| balancer.members.iter().map(|member| key(balancer, member)).collect::<Vec<_>>();
        let current: Vec<(String, String)> = balancers.iter().flat_map(names).collect();
        self.lock().retain(|key, state| state.busy > 0 || current.contains(key));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), MemberState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(balancer: &Balancer, member: &BalancerMember) -> (String, String) {
    (balancer.name.clone(), member.url.to_string())
}

fn initial(member: &BalancerMember) -> MemberState {
    MemberState { failed: member.status.in_error.then(Instant::now), ..MemberState::default() }
}
