use super::conf;
use super::control_group::ControlGroup;
use crate::support::{Server, Site};

/// The kernel's OOM killer has no notion of requests. The server reports the killed process and the budget that was too
/// large.
#[test]
fn a_worker_that_the_kernel_kills_is_named_and_lowers_the_budget() {
    let Some(group) = ControlGroup::new("killed") else {
        return println!("NOT VERIFIED: no control group can be made here");
    };
    group.limit(200 << 20);
    let large = "my ($own, $n) = (0, 400); sub { $own = 'x' x ($n * 1_000_000) if $_[0]{PATH_INFO} eq '/large'; [200, [], ['ok']] }";
    let site = Site::new().file("app.psgi", large);
    site.configure(&format!("MemoryBudget 2G\n{}", conf(1)));
    let server = Server::start_by(site, &["sh", "-c", &group.enter()]);
    server.text("/");
    server.status();
    server.get("/large").is(502);
    let line = server.logged(" killed signal=9 (by the kernel: ");
    assert!(line.contains("worker=0 "), "{line}");
    let lowered = server.logged("MemoryBudget is ");
    let mb: u64 =
        lowered.split("MemoryBudget is ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("MB");
    assert!(mb < 200, "{lowered}");
    assert_eq!(server.text("/"), "ok");
}
