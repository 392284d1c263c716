//! Tests of clients, on a simulated clock.

use std::time::Duration;

use super::*;
use config::scheduling::{LimitPlace, Rate};

const SECOND: Duration = Duration::from_secs(1);

fn limit(requests: Option<u32>, worker_seconds: Option<u32>) -> SpeedLimit {
    let rate = |amount| Rate { amount, period: 10 * SECOND };
    SpeedLimit {
        id: 1,
        place: LimitPlace { host: 0, section: "".into() },
        requests: requests.map(rate),
        worker_seconds: worker_seconds.map(rate),
    }
}

fn client(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[test]
fn a_client_may_use_its_whole_amount_at_once_and_then_the_rate_of_the_limit() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(5), None), Instant::now());
    let mut asks = |after: Duration| clients.enter(&limit, client("192.0.2.1"), now + after).is_ok();
    assert_eq!((0..8).map(|_| asks(Duration::ZERO)).filter(|may| *may).count(), 5);
    assert!(!asks(SECOND), "one in two seconds");
    assert!(asks(2 * SECOND) && !asks(2 * SECOND), "what was refused does not count");
    assert_eq!((0..8).map(|_| asks(60 * SECOND)).filter(|may| *may).count(), 5, "not more for having waited longer");
    assert!(clients.enter(&limit, client("192.0.2.2"), now).is_ok(), "others are not concerned");
}

#[test]
fn retry_after_is_the_exact_time() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(1), None), Instant::now());
    let mut asks = |after: Duration| clients.enter(&limit, client("192.0.2.1"), now + after);
    assert!(asks(Duration::ZERO).is_ok());
    assert_eq!(asks(SECOND).err().map(|slow| slow.retry_after), Some(9));
    assert!(asks(10 * SECOND).is_ok());
}

#[test]
fn seconds_of_workers_count_while_they_pass() {
    let (mut clients, limit, now) = (Clients::default(), limit(None, Some(2)), Instant::now());
    let one = client("192.0.2.1");
    let id = clients.enter(&limit, one, now).expect("the first");
    assert!(clients.begin(id, now) && clients.begin(id, now));
    assert!(clients.enter(&limit, one, now + SECOND / 2).is_ok(), "one second is used");
    assert!(clients.enter(&limit, one, now + 2 * SECOND).is_err(), "four are, though nothing has ended");
    clients.end(id, now, now + 2 * SECOND);
    clients.end(id, now, now + 2 * SECOND);
    let slow = clients.enter(&limit, one, now + 2 * SECOND).expect_err("they still are");
    assert_eq!(slow.retry_after, 10, "two too many, at a fifth of a second a second");
    assert!(clients.enter(&limit, one, now + 13 * SECOND).is_ok());
}

#[test]
fn the_account_of_a_client_with_a_running_request_is_not_evicted() {
    let (mut clients, limit, now) = (Clients::default(), limit(None, Some(1)), Instant::now());
    let id = clients.enter(&limit, client("192.0.2.1"), now).expect("the first");
    assert!(clients.begin(id, now));
    for n in 0..3 * KEPT as u32 {
        let _ = clients.enter(&limit, IpAddr::from((n | 1 << 31).to_be_bytes()), now);
    }
    clients.end(id, now, now + SECOND);
    assert!(clients.enter(&limit, client("192.0.2.1"), now + SECOND).is_err(), "its second counts");
}

#[test]
fn a_network_of_64_bits_is_one_client() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(1), None), Instant::now());
    let mut asks = |address: &str| clients.enter(&limit, client(address), now).is_ok();
    assert!(asks("2001:db8:1:2::1") && !asks("2001:db8:1:2:ffff::9") && asks("2001:db8:1:3::1"));
    assert!(asks("::ffff:192.0.2.1") && !asks("192.0.2.1"));
}

#[test]
fn a_refused_client_gets_one_log_line_a_minute_with_a_count() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(1), None), Instant::now());
    let mut line = |after: u64| {
        clients.enter(&limit, client("192.0.2.1"), now + Duration::from_millis(after)).err().and_then(|slow| slow.line)
    };
    assert_eq!(line(0), None, "let in");
    let first = line(1).expect("a line");
    assert!(first.contains("client 192.0.2.1") && first.contains("SpeedLimit requests=1/10s"), "{first}");
    assert_eq!((line(2), line(3)), (None, None));
    assert_eq!(line(60_500), None, "let in again");
    assert!(line(61_500).expect("another").contains("2 times more"), "a minute later");
}

#[test]
fn memory_of_accounts_is_bounded_and_only_idle_clients_lose_theirs() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(1), None), Instant::now());
    let busy = client("192.0.2.1");
    assert!(clients.enter(&limit, busy, now).is_ok());
    for n in 0..5 * KEPT as u32 {
        let _ = clients.enter(&limit, IpAddr::from(n.to_be_bytes()), now);
        assert!(n % 1000 != 0 || clients.enter(&limit, busy, now).is_err());
    }
    assert!(clients.len() <= 2 * KEPT);
}

/// The verdict of a store about the client's next request.
fn by_store(
    clients: &mut Clients,
    limit: &SpeedLimit,
    verdict: PaceVerdict,
    now: Instant,
) -> Result<ClientId, TooFast> {
    let inquiry = clients.inquire(limit, client("192.0.2.1"), now)?;
    clients.settle(limit, inquiry, verdict, now)
}

#[test]
fn what_the_store_has_not_counted_is_reported_once_and_drains() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(5), Some(5)), Instant::now());
    let usage = |clients: &mut Clients, now| {
        let inquiry = clients.inquire(&limit, client("192.0.2.1"), now).expect("an inquiry");
        let usage = inquiry.usage;
        (usage, clients.settle(&limit, inquiry, PaceVerdict::Admitted, now).expect("it is admitted"))
    };
    for _ in 0..3 {
        by_store(&mut clients, &limit, PaceVerdict::Undecided, now).expect("below the own limit");
    }
    let (first, id) = usage(&mut clients, now + 2 * SECOND);
    assert_eq!((first.requests, first.worker_seconds), (2.0, 0.0), "one of three has drained");
    assert_eq!(usage(&mut clients, now + 2 * SECOND).0.requests, 0.0);
    assert!(clients.begin(id, now + 2 * SECOND));
    let running = usage(&mut clients, now + 4 * SECOND).0;
    assert_eq!((running.worker_seconds, running.unfinished), (0.0, 2.0));
    clients.end(id, now + 2 * SECOND, now + 4 * SECOND);
    assert_eq!(usage(&mut clients, now + 4 * SECOND).0.worker_seconds, 2.0);
}

#[test]
fn a_client_that_the_store_refuses_is_refused_here_until_its_time_has_come() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(5), None), Instant::now());
    let refused = by_store(&mut clients, &limit, PaceVerdict::Wait(4 * SECOND), now).expect_err("by the store");
    assert_eq!(refused.retry_after, 4);
    let refused = clients.inquire(&limit, client("192.0.2.1"), now + SECOND).expect_err("without a question");
    assert_eq!(refused.retry_after, 3);
    assert!(by_store(&mut clients, &limit, PaceVerdict::Admitted, now + 4 * SECOND).is_ok());
}

#[test]
fn without_the_store_the_own_limit_holds_and_its_usage_is_reported_even_if_it_refuses() {
    let (mut clients, limit, now) = (Clients::default(), limit(Some(2), None), Instant::now());
    for admitted in [true, true, false, false] {
        assert_eq!(by_store(&mut clients, &limit, PaceVerdict::Undecided, now).is_ok(), admitted);
    }
    let inquiry = clients.inquire(&limit, client("192.0.2.1"), now).expect("a report");
    assert_eq!((inquiry.usage.requests, inquiry.usage.is_report), (2.0, true));
    clients.withdraw(&limit, inquiry, now);
    let inquiry = clients.inquire(&limit, client("192.0.2.1"), now).expect("the client of the first has left");
    assert_eq!((inquiry.usage.requests, inquiry.usage.is_report), (2.0, true));
    assert!(clients.settle(&limit, inquiry, PaceVerdict::Admitted, now).is_err(), "the own limit holds");
    assert!(clients.inquire(&limit, client("192.0.2.1"), now).is_err(), "nothing is left to report");
}
