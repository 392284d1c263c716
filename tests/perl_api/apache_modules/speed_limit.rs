//! Apache::SpeedLimit.

use super::CONF;
use crate::support::{Request, Server, Site};

/// Each request gets a new worker, so the counters must be shared between workers.
fn serve(vars: &str) -> Server {
    Site::new()
        .script("scripts/test.pl", "my $r = shift; use Apache::SpeedLimit; my $s = Apache::SpeedLimit::handler($r); $r->send_http_header('text/plain'); print \"$s $$\";")
        .serve(&format!("{}\nMaxRequestsPerChild 1\nPerlModule Apache::SpeedLimit\n{vars}", CONF.replace("MaxClients 1", "MaxClients 3")))
}

/// Replaces the module's clock: the query string is the current time.
const CLOCK: &str = "PerlEval \"*Apache::SpeedLimit::time_now = sub { Apache->request->args }\"\n";

fn verdict(server: &Server, agent: &str, second: u32) -> (String, String) {
    let text = server.send(Request::get(&format!("/perl/test.pl?{second}")).header("User-Agent", agent)).text();
    let (status, pid) = text.split_once(' ').unwrap_or_else(|| panic!("{text}"));
    (status.to_owned(), pid.to_owned())
}

#[test]
fn a_client_above_the_rate_is_refused_by_every_worker() {
    let server = serve(&format!("{CLOCK}PerlSetVar SpeedLimit 20\nPerlSetVar SpeedSamples 4"));
    let all: Vec<(String, String)> = (1000..1006).map(|second| verdict(&server, "robot", second)).collect();
    let statuses: Vec<&str> = all.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, ["0", "0", "0", "0", "403", "403"]);
    let pids: std::collections::HashSet<&str> = all.iter().map(|(_, pid)| pid.as_str()).collect();
    assert_eq!(pids.len(), 6, "each was another worker");
    assert_eq!(verdict(&server, "visitor", 1006).0, "0", "others are not affected");
    let line = server.logged("SpeedLimit is 20");
    assert!(line.contains("the client sends") && line.contains("/perl/test.pl"), "{line}");
}

#[test]
fn a_refused_client_is_forgiven_after_its_time() {
    let server =
        serve(&format!("{CLOCK}PerlSetVar SpeedLimit 1\nPerlSetVar SpeedSamples 1\nPerlSetVar SpeedForgive 2"));
    let at = |seconds: u32| server.text(&format!("/perl/test.pl?{seconds}")).split(' ').next().map(str::to_owned);
    let statuses: Vec<_> = [1000, 1001, 1120, 1241].map(at).into_iter().flatten().collect();
    assert_eq!(
        statuses,
        ["0", "403", "403", "0"],
        "the third came within two minutes of a refusal, the fourth did not"
    );
}

#[test]
fn without_a_limit_nothing_is_counted() {
    let server = serve("");
    assert_eq!(verdict(&server, "x", 1000).0, "-1");
    assert!(!server.log().contains("SpeedLimit.pm"), "no warning: {}", server.log());
}
