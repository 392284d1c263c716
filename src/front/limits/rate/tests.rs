//! Clients against a clock that the tests move.

use std::time::Duration;

use super::*;
use crate::config::admission::Rate;

const SECOND: Duration = Duration::from_secs(1);

fn limit(requests: Option<u32>, worker_seconds: Option<u32>) -> SpeedLimit {
    let rate = |amount| Rate { amount, period: 10 * SECOND };
    SpeedLimit { id: 1, requests: requests.map(rate), worker_seconds: worker_seconds.map(rate) }
}

fn client(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[test]
fn a_client_may_use_all_at_once_and_then_goes_on_at_the_speed_of_the_limit() {
    let (speeds, limit, now) = (Speeds::default(), limit(Some(5), None), Instant::now());
    let asks = |after: Duration| speeds.enter(&limit, client("192.0.2.1"), now + after).is_ok();
    assert_eq!((0..8).filter(|_| asks(Duration::ZERO)).count(), 5);
    assert!(!asks(SECOND), "one in two seconds");
    assert!(asks(2 * SECOND) && !asks(2 * SECOND), "what was refused does not count");
    assert_eq!((0..8).filter(|_| asks(60 * SECOND)).count(), 5, "not more for having waited longer");
    assert!(speeds.enter(&limit, client("192.0.2.2"), now).is_ok(), "others are not concerned");
}

#[test]
fn the_time_to_come_again_is_told_exactly() {
    let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
    let asks = |after: Duration| speeds.enter(&limit, client("192.0.2.1"), now + after);
    assert!(asks(Duration::ZERO).is_ok());
    assert_eq!(asks(SECOND).err().map(|slow| slow.retry_after), Some(9));
    assert!(asks(10 * SECOND).is_ok());
}

#[test]
fn seconds_of_workers_count_while_they_pass() {
    let (speeds, limit, now) = (Speeds::default(), limit(None, Some(2)), Instant::now());
    let asks = |after: Duration| speeds.enter(&limit, client("192.0.2.1"), now + after);
    let account = asks(Duration::ZERO).expect("the first");
    let (mut first, mut second) = (Charge::new(&account), Charge::new(&account));
    first.begin(now);
    second.begin(now);
    assert!(asks(SECOND / 2).is_ok(), "one second is used");
    assert!(asks(2 * SECOND).is_err(), "four are, though nothing has ended");
    first.end(now + 2 * SECOND);
    second.end(now + 2 * SECOND);
    let slow = asks(2 * SECOND).err().expect("they still are");
    assert_eq!(slow.retry_after, 10, "two too many, at a fifth of a second a second");
    assert!(asks(13 * SECOND).is_ok());
}

#[test]
fn a_request_that_never_reached_a_worker_costs_none_of_its_time() {
    let (speeds, limit, now) = (Speeds::default(), limit(None, Some(1)), Instant::now());
    let account = speeds.enter(&limit, client("192.0.2.1"), now).expect("the first");
    drop(Charge::new(&account));
    assert_eq!(account.worker_seconds.get().used, 0.0);
}

#[test]
fn a_network_of_64_bits_is_one_client() {
    let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
    let asks = |address: &str| speeds.enter(&limit, client(address), now).is_ok();
    assert!(asks("2001:db8:1:2::1") && !asks("2001:db8:1:2:ffff::9") && asks("2001:db8:1:3::1"));
    assert!(asks("::ffff:192.0.2.1") && !asks("192.0.2.1"));
}

#[test]
fn a_client_has_one_line_a_minute_that_tells_how_often_it_was_refused() {
    let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
    let line = |after: u64| {
        speeds.enter(&limit, client("192.0.2.1"), now + Duration::from_millis(after)).err().and_then(|slow| slow.line)
    };
    assert_eq!(line(0), None, "let in");
    let first = line(1).expect("a line");
    assert!(first.contains("client 192.0.2.1") && first.contains("SpeedLimit requests=1/10s"), "{first}");
    assert_eq!((line(2), line(3)), (None, None));
    assert_eq!(line(60_500), None, "let in again");
    assert!(line(61_500).expect("another").contains("2 times more"), "a minute later");
}

#[test]
fn memory_is_bounded_and_who_asks_often_is_not_forgotten() {
    let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
    let busy = client("192.0.2.1");
    assert!(speeds.enter(&limit, busy, now).is_ok());
    for n in 0..5 * KEPT as u32 {
        let _ = speeds.enter(&limit, IpAddr::from(n.to_be_bytes()), now);
        assert!(n % 1000 != 0 || speeds.enter(&limit, busy, now).is_err());
    }
    assert!(speeds.len() <= 2 * KEPT);
}
