//! The choice of a member. No clock and no I/O: time and state are arguments.

use std::time::Instant;

use super::MemberState;
use config::proxy::balancer::{Balancer, BalancerMember, LbMethod};

/// A chosen member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberChoice {
    /// Index of the member.
    pub member: usize,
    /// Whether the session named another member.
    pub moved: bool,
}

/// Why no member was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMember {
    /// All members are in error, disabled, or were tried.
    Usable,
    /// The member of the session is not usable, and `nofailover` is set.
    OfTheSession,
}

/// Chooses a member for a request of the session with `route`, other than those that were `tried`.
pub fn choose(
    balancer: &Balancer,
    states: &mut [MemberState],
    route: Option<&str>,
    tried: &[usize],
    now: Instant,
) -> Result<MemberChoice, NoMember> {
    let chosen = attempt(balancer, states, route, tried, now);
    let all_failed = balancer.members.iter().zip(&*states).all(|(member, state)| state.is_in_error(member, now));
    if chosen == Err(NoMember::Usable) && all_failed && tried.is_empty() && balancer.settings.force_recovery {
        states.iter_mut().for_each(|state| state.failed = None);
        return attempt(balancer, states, route, tried, now);
    }
    chosen
}

fn attempt(
    balancer: &Balancer,
    states: &mut [MemberState],
    route: Option<&str>,
    tried: &[usize],
    now: Instant,
) -> Result<MemberChoice, NoMember> {
    let members = &balancer.members;
    let is_usable = |index: usize, states: &[MemberState]| {
        let both = members.get(index).zip(states.get(index));
        !tried.contains(&index) && both.is_some_and(|(member, state)| state.is_usable(member, now))
    };
    if let Some(route) = route {
        let of = |route: &str| members.iter().position(|member| !member.route.is_empty() && member.route == route);
        if let Some(own) = of(route) {
            if is_usable(own, states) {
                return Ok(MemberChoice { member: own, moved: false });
            }
            let instead = members.get(own).filter(|member| !member.redirect.is_empty());
            if let Some(other) =
                instead.and_then(|member| of(&member.redirect)).filter(|other| is_usable(*other, states))
            {
                return Ok(MemberChoice { member: other, moved: true });
            }
        }
        if balancer.settings.no_failover {
            return Err(NoMember::OfTheSession);
        }
    }
    let usable: Vec<bool> = (0..members.len()).map(|index| is_usable(index, states)).collect();
    let candidates = candidates(members, &usable);
    let member = best(balancer, states, &candidates).ok_or(NoMember::Usable)?;
    Ok(MemberChoice { member, moved: route.is_some() })
}

/// The usable members of the first set that has some: first its ordinary members, with a hot spare for each ordinary
/// member that is not usable, then its hot standbys.
fn candidates(members: &[BalancerMember], usable: &[bool]) -> Vec<usize> {
    let mut sets: Vec<u8> = members.iter().map(|member| member.lb_set).collect();
    sets.sort_unstable();
    sets.dedup();
    for set in sets {
        for standby in [false, true] {
            let of_set = members.iter().zip(usable).enumerate().filter(|(_, (member, _))| {
                member.lb_set == set && member.status.hot_standby == standby && !member.status.draining
            });
            let (spares, ordinary): (Vec<_>, Vec<_>) = of_set.partition(|(_, (member, _))| member.status.hot_spare);
            let missing = ordinary.iter().filter(|(_, (_, usable))| !**usable).count();
            let chosen = ordinary.iter().filter(|(_, (_, usable))| **usable);
            let spares = spares.iter().filter(|(_, (_, usable))| **usable).take(missing);
            let all: Vec<usize> = chosen.chain(spares).map(|(index, _)| *index).collect();
            if !all.is_empty() {
                return all;
            }
        }
    }
    Vec::new()
}

fn best(balancer: &Balancer, states: &mut [MemberState], candidates: &[usize]) -> Option<usize> {
    let factor = |index: usize| balancer.members.get(index).map_or(100, |member| u64::from(member.load_factor));
    let total: u64 = candidates.iter().map(|index| factor(*index)).sum();
    for index in candidates {
        states.get_mut(*index)?.weight += factor(*index) as i64;
    }
    let state = |index: &usize| states.get(*index).cloned().unwrap_or_default();
    // The first of equals is chosen, as in httpd.
    let first_by = |key: &dyn Fn(&usize) -> (u64, i64)| candidates.iter().copied().min_by_key(|index| key(index));
    let chosen = match balancer.settings.method {
        LbMethod::ByRequests => first_by(&|index| (0, -state(index).weight)),
        LbMethod::ByTraffic => first_by(&|index| {
            let state = state(index);
            ((state.to_member + state.from_member) * 100 / factor(*index), 0)
        }),
        LbMethod::ByBusyness => first_by(&|index| (u64::from(state(index).busy), -state(index).weight)),
    }?;
    states.get_mut(chosen)?.weight -= total as i64;
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use config::proxy::balancer::{BalancerSettings, MemberStatus};
    use config::proxy::{BackendParameters, BackendUrl};

    fn member(number: u16) -> BalancerMember {
        BalancerMember {
            url: BackendUrl::parse(&format!("http://127.0.0.1:{number}")).expect("a URL"),
            parameters: Arc::new(BackendParameters::default()),
            route: format!("r{number}"),
            redirect: String::new(),
            load_factor: 100,
            lb_set: 0,
            status: MemberStatus::default(),
            check: None,
            at: config::At { file: "httpd.conf".into(), line: 1 },
        }
    }

    fn balancer(members: Vec<BalancerMember>) -> Balancer {
        let at = config::At { file: "httpd.conf".into(), line: 1 };
        Balancer { host: 0, name: "one".to_owned(), members, settings: BalancerSettings::default(), at }
    }

    fn chosen(balancer: &Balancer, states: &mut [MemberState], count: usize) -> Vec<usize> {
        let now = Instant::now();
        (0..count).map(|_| choose(balancer, states, None, &[], now).expect("a member").member).collect()
    }

    #[test]
    fn requests_are_shared_by_the_load_factors() {
        let mut three = balancer(vec![member(1), member(2), member(3)]);
        let mut states = vec![MemberState::default(); 3];
        assert_eq!(chosen(&three, &mut states, 6), [0, 1, 2, 0, 1, 2]);
        three.members[0].load_factor = 200;
        let mut states = vec![MemberState::default(); 3];
        let all = chosen(&three, &mut states, 400);
        assert_eq!([0, 1, 2].map(|index| all.iter().filter(|one| **one == index).count()), [200, 100, 100]);
    }

    #[test]
    fn the_least_busy_and_the_least_loaded_member_is_chosen() {
        let mut two = balancer(vec![member(1), member(2)]);
        let busy = MemberState { busy: 3, from_member: 10, ..MemberState::default() };
        let loaded = MemberState { busy: 1, from_member: 20, ..MemberState::default() };
        two.settings.method = LbMethod::ByBusyness;
        assert_eq!(chosen(&two, &mut [busy.clone(), loaded.clone()], 1), [1]);
        two.settings.method = LbMethod::ByTraffic;
        assert_eq!(chosen(&two, &mut [busy, loaded], 1), [0]);
    }

    #[test]
    fn standbys_spares_and_higher_sets_wait_for_others_to_fail() {
        let mut four = balancer(vec![member(1), member(2), member(3), member(4)]);
        four.members[1].status.hot_spare = true;
        four.members[2].status.hot_standby = true;
        four.members[3].lb_set = 1;
        let mut states = vec![MemberState::default(); 4];
        for expected in 0..4 {
            assert_eq!(chosen(&four, &mut states, 2), [expected; 2]);
            states[expected].unhealthy = true;
        }
        assert_eq!(choose(&four, &mut states, None, &[], Instant::now()), Err(NoMember::Usable));
    }

    #[test]
    fn a_session_stays_with_its_member_and_moves_only_if_it_may() {
        let mut three = balancer(vec![member(1), member(2), member(3)]);
        three.members[1].status.draining = true;
        three.members[1].redirect = "r3".to_owned();
        let mut states = vec![MemberState::default(); 3];
        let now = Instant::now();
        let ask = |three: &Balancer, states: &mut [MemberState], route| choose(three, states, Some(route), &[], now);
        assert_eq!(ask(&three, &mut states, "r2"), Ok(MemberChoice { member: 1, moved: false }));
        assert_eq!(chosen(&three, &mut states, 4), [0, 2, 0, 2], "a draining member gets no new sessions");
        states[1].failed = Some(now);
        assert_eq!(ask(&three, &mut states, "r2"), Ok(MemberChoice { member: 2, moved: true }));
        three.settings.no_failover = true;
        states[0].failed = Some(now);
        assert_eq!(ask(&three, &mut states, "r1"), Err(NoMember::OfTheSession));
    }

    #[test]
    fn an_error_ends_with_the_time_of_retry_and_all_are_tried_if_all_failed() {
        let mut two = balancer(vec![member(1), member(2)]);
        let now = Instant::now();
        let failed = MemberState { failed: Some(now), ..MemberState::default() };
        let mut states = vec![failed, MemberState::default()];
        assert_eq!(chosen(&two, &mut states, 3), [1; 3]);
        let later = now + Duration::from_secs(61);
        let all: Vec<usize> =
            (0..2).filter_map(|_| choose(&two, &mut states, None, &[], later).ok()).map(|one| one.member).collect();
        assert!(all.contains(&0), "{all:?}");
        states.iter_mut().for_each(|state| state.failed = Some(now));
        assert!(choose(&two, &mut states, None, &[], now).is_ok());
        two.settings.force_recovery = false;
        states.iter_mut().for_each(|state| state.failed = Some(now));
        assert_eq!(choose(&two, &mut states, None, &[], now), Err(NoMember::Usable));
    }
}
