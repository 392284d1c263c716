//! Balancers: which member gets a request, and which member after it has failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering::SeqCst};

use super::{Backend, ok};
use crate::support::{Request, Server, Site, until};

/// Backends that answer with these names.
fn named<const N: usize>(names: [&'static str; N]) -> [Backend; N] {
    names.map(|name| Backend::new(move |_| ok(name)))
}

fn texts(server: &Server, count: usize) -> Vec<String> {
    (0..count).map(|_| server.text("/")).collect()
}

#[test]
fn members_share_requests_by_their_load_factors() {
    let [one, two] = named(["one", "two"]);
    let server = Site::new().serve(&format!(
        "ProxyPass / balancer://Group/\n<Proxy balancer://group>\nBalancerMember {} loadfactor=3\nBalancerMember {}\n</Proxy>\n",
        one.url(""),
        two.url("/deep"),
    ));
    let all = texts(&server, 8);
    assert_eq!(all.iter().filter(|text| *text == "one").count(), 6, "{all:?}");
    server.text("/path?query");
    let lines: Vec<String> = two.received().iter().map(|request| request.line().to_owned()).collect();
    assert!(lines.iter().all(|line| line.starts_with("GET /deep/")), "{lines:?}");
}

#[test]
fn a_member_that_is_not_there_gets_no_requests_until_its_time_is_over() {
    let silent = Site::new();
    let [two] = named(["two"]);
    let server = Site::new().serve(&format!(
        "ProxyPass / balancer://group/\n<Proxy balancer://group>\nBalancerMember http://127.0.0.1:{}\nBalancerMember {}\n</Proxy>\n",
        silent.port,
        two.url(""),
    ));
    // The body goes to the member that takes the request.
    assert_eq!(server.send(Request::new("POST", "/").body("whole")).text(), "two");
    assert_eq!(two.only().body, b"whole");
    server.logged("is in error, and gets no requests until its time of retry is over");
    assert_eq!(texts(&server, 3), ["two"; 3]);
    server.reload().succeeded();
    assert_eq!(texts(&server, 3), ["two"; 3]);
    let tried = server.log().matches("cannot connect:").count();
    assert_eq!(tried, 1, "a reload does not forget the error: {}", server.log());
}

#[test]
fn all_members_are_tried_before_a_request_is_refused() {
    let (one, two) = (Site::new(), Site::new());
    let conf = |parameters: &str| {
        format!(
            "ProxyPass / balancer://group/ {parameters}\nBalancerMember balancer://group http://127.0.0.1:{}\n\
             BalancerMember balancer://group http://127.0.0.1:{}\n",
            one.port, two.port
        )
    };
    let server = Site::new().serve(&conf(""));
    assert_eq!(server.get("/").status, 503);
    assert_eq!(server.log().matches("cannot connect:").count(), 2, "{}", server.log());
    let _late = two.file("htdocs/index.html", "late").serve("");
    // Each member is in error, so each is tried again.
    assert_eq!(server.text("/index.html"), "late");
}

#[test]
fn a_session_stays_with_its_member() {
    let [one, two] = named(["one", "two"]);
    let server = Site::new().serve(&format!(
        "Header add Set-Cookie \"ROUTE=.%{{BALANCER_WORKER_ROUTE}}e\" env=BALANCER_ROUTE_CHANGED\n\
         Header set X-Name %{{BALANCER_NAME}}e\n\
         <Proxy balancer://group>\nBalancerMember {} route=a\nBalancerMember {} route=b\n\
         ProxySet stickysession=ROUTE|route\n</Proxy>\nProxyPass / balancer://group/\n",
        one.url(""),
        two.url(""),
    ));
    let first = server.get("/");
    assert_eq!(first.header("Set-Cookie").as_deref(), Some("ROUTE=.a"));
    assert_eq!(first.header("X-Name").as_deref(), Some("balancer://group"));
    for _ in 0..3 {
        let again = server.send(Request::get("/").header("Cookie", "x=y; ROUTE=.b"));
        assert_eq!((again.text().as_str(), again.header("Set-Cookie")), ("two", None));
    }
    assert_eq!(server.text("/x;route=1.b"), "two");
    assert_eq!(server.text("/x?route=1.a"), "one");
}

#[test]
fn standbys_and_disabled_members_wait() {
    let [one, two, three] = named(["one", "two", "three"]);
    let server = Site::new().serve(&format!(
        "ProxyPass / balancer://group/\n<Proxy balancer://group>\nBalancerMember {} status=+H\nBalancerMember {} status=+D\n\
         BalancerMember {}\nBalancerMember {} status=+N\n</Proxy>\n",
        one.url(""),
        two.url(""),
        three.url(""),
        two.url("/drain"),
    ));
    assert_eq!(texts(&server, 3), ["three"; 3]);
}

#[test]
fn statuses_and_timeouts_put_a_member_in_error_where_the_site_says_so() {
    let [good] = named(["good"]);
    let bad = Backend::new(|_| b"HTTP/1.1 500 Bad\r\nContent-Length: 3\r\n\r\nbad".to_vec());
    let slow = Backend::with(|stream, _| std::io::Read::read(stream, &mut [0; 1]).is_ok_and(|read| read > 0));
    let server = Site::new().serve(&format!(
        "<Proxy balancer://group>\nBalancerMember {}\nBalancerMember {} timeout=200ms\nBalancerMember {}\n\
         ProxySet failonstatus=500 failontimeout=On\n</Proxy>\nProxyPass / balancer://group/\n",
        bad.url(""),
        slow.url(""),
        good.url(""),
    ));
    let statuses: Vec<u16> = (0..6).map(|_| server.get("/").status).collect();
    assert_eq!(statuses, [500, 504, 200, 200, 200, 200]);
}

#[test]
fn members_that_fail_their_checks_get_no_requests() {
    let is_well = Arc::new(AtomicBool::new(true));
    let (well, checks) = (is_well.clone(), Arc::new(AtomicU16::new(0)));
    let counted = checks.clone();
    let one = Backend::new(move |request| match request.line() {
        "GET /health HTTP/1.1" => {
            counted.fetch_add(1, SeqCst);
            ok(if well.load(SeqCst) { "up" } else { "down" })
        }
        _ => ok("one"),
    });
    let [two] = named(["two"]);
    let server = Site::new().serve(&format!(
        "ProxyHCExpr up {{hc('body') =~ /up/}}\nProxyHCTemplate quick hcinterval=100ms hcmethod=GET hcuri=/health\n\
         <Proxy balancer://group>\nBalancerMember {} hctemplate=quick hcexpr=up hcfails=2\nBalancerMember {} status=+H\n</Proxy>\n\
         ProxyPass / balancer://group/\n",
        one.url(""),
        two.url(""),
    ));
    until("the first check", || checks.load(SeqCst) > 0);
    assert_eq!(server.text("/"), "one");
    is_well.store(false, SeqCst);
    server.logged("fails its checks, and gets no requests");
    assert_eq!(texts(&server, 2), ["two"; 2]);
    is_well.store(true, SeqCst);
    server.logged("passes its checks, and gets requests again");
    assert_eq!(texts(&server, 2), ["one"; 2]);
}

#[test]
fn mistakes_in_balancers_are_named() {
    for (conf, message) in [
        ("ProxyPass / balancer://nobody/\n", "balancer://nobody has no members"),
        (
            "<Proxy balancer://a>\nBalancerMember http://x status=+Q\n</Proxy>\n",
            "status: expected letters of D S I R H E N",
        ),
        (
            "<Proxy balancer://a>\nBalancerMember http://x loadfactor=0\n</Proxy>\n",
            "loadfactor: expected a number from 1 to 100",
        ),
        ("BalancerMember http://x\n", "expected balancer://name first"),
        ("<Proxy balancer://a>\nBalancerMember balancer://b\n</Proxy>\n", "expected the URL of a backend"),
        ("<Proxy balancer://a>\nBalancerMember http://x hcexpr=none\n</Proxy>\n", "no ProxyHCExpr none"),
        ("ProxyPass / ajp://x/\n", "backends of the scheme ajp:// are not supported"),
    ] {
        let site = Site::new();
        site.configure(conf);
        site.cameleer(["check", "-f", "site.conf"]).failed(78, message);
    }
}
