//! Nodes behind HAProxy that drain under load: no request is lost.

use nix::sys::signal::Signal;

use crate::support::{Haproxy, Load, Request, Server, Site, free_port, until};

/// The page whose configurations of HAProxy and of a node the test uses.
const PAGE: &str = include_str!("../../docs/operating/behind-a-balancer.md");
/// An application whose responses take a while, and contain the body of the request.
const APP: &str = "sub { my $env = shift; read $env->{'psgi.input'}, my $body, 100; \
    select undef, undef, undef, 0.005; [200, [], [\"got $body\"]] }";

/// The first block of [`PAGE`] in this language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).expect("a block of the page");
    rest.split_once("```").expect("its end").0
}

/// A node with the configuration of the page, and the port of its agent.
fn node() -> (Server, u16) {
    let agent = free_port();
    let conf = block("apache").replace("8101", &agent.to_string());
    let place = "<Location /app>\nPsgiApp app.psgi\n</Location>\n";
    (Site::new().file("app.psgi", APP).serve(&format!("{conf}{place}")), agent)
}

#[track_caller]
fn until_it_serves(node: &Server) {
    let requests = || node.status()["front"]["worker_requests"].as_u64().unwrap_or_default();
    let before = requests();
    until("the node gets requests", || requests() > before + 5);
}

/// The request is a POST, which HAProxy does not repeat once it was sent.
#[test]
fn no_request_is_lost_while_the_nodes_of_the_page_drain_one_after_the_other() {
    let (mut a, agent_of_a) = node();
    let (mut b, agent_of_b) = node();
    let port = free_port();
    let ports =
        [("8000", port), ("8001", a.site.port), ("8002", b.site.port), ("8101", agent_of_a), ("8102", agent_of_b)];
    // In two steps: a port of this machine may contain the digits of one of the page.
    let marked = |text: String, (page, _): &(&str, u16)| text.replace(page, &format!("@{page}@"));
    let own = |text: String, (page, own): &(&str, u16)| text.replace(&format!("@{page}@"), &own.to_string());
    let config = ports.iter().fold(ports.iter().fold(block("haproxy").to_owned(), marked), own);
    let haproxy = Haproxy::with(&a.site, port, &config);
    ["a", "b"].iter().for_each(|name| haproxy.until_node(name, "UP"));
    let request = Request::post("/app", "a=1");
    let load = Load::at(&haproxy.address, 4, &request, |answer| answer.status == 200 && answer.text() == "got a=1");
    until_it_serves(&a);
    until_it_serves(&b);
    a.control(["drain"]).succeeded();
    assert_eq!(a.wait(), 0);
    load.until_answered(50);
    a.restart();
    until_it_serves(&a);
    b.signal(Signal::SIGTERM);
    assert_eq!(b.wait(), 0);
    load.until_answered(50);
    b.restart();
    until_it_serves(&b);
    let (answered, failures) = load.end();
    assert!(failures.is_empty() && answered > 100, "{answered} answered, {failures:?}");
}
