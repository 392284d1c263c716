//! Apache::SizeLimit and Apache::GTopLimit.

use super::{URL, script};
use crate::support::Server;

/// The worker's pid, printed by the script.
fn pid(server: &Server) -> String {
    server.text(URL)
}

#[track_caller]
fn is_replaced(server: &Server, reason: &str) {
    let first = pid(server);
    let line = server.logged(reason);
    assert!(line.contains(&format!("pid={first} exits after this request")), "{line}");
    assert_ne!(pid(server), first);
}

#[track_caller]
fn stays(server: &Server) {
    let first = pid(server);
    assert_eq!([pid(server), pid(server)], [first.clone(), first]);
    assert!(!server.log().contains("exits after"), "{}", server.log());
}

#[test]
fn a_worker_over_the_limit_of_one_request_leaves_after_it() {
    for (call, reason) in [
        (
            "use Apache::SizeLimit; Apache::SizeLimit->setmax(1024)",
            "SizeLimit: pid=PID exits after this request: the size of the process is over 1024k",
        ),
        ("use Apache::SizeLimit; Apache::SizeLimit::setmax(1024)", "the size of the process is over 1024k"),
        ("use Apache::SizeLimit; Apache::SizeLimit->setmin(1e6)", "the process shares less than 1000000k"),
        ("use Apache::SizeLimit; Apache::SizeLimit->setmax_unshared(100)", "the unshared part is over 100k"),
        ("use Apache::GTopLimit; Apache::GTopLimit->set_max_size(1024)", "the size of the process is over 1024k"),
        ("use Apache::GTopLimit; Apache::GTopLimit->set_min_shared_size(1e6)", "the process shares less than 1000000k"),
        ("use Apache::GTopLimit; Apache::GTopLimit->set_max_unshared_size(100)", "the unshared part is over 100k"),
    ] {
        let server =
            script(&format!("{call}; print $$;"), "PerlModule Apache::SizeLimit\nPerlModule Apache::GTopLimit");
        is_replaced(&server, reason.rsplit("request: ").next().expect("a last part"));
    }
}

#[test]
fn a_size_limit_set_by_a_request_ends_with_the_request() {
    let server = script(
        "use Apache::SizeLimit; Apache::SizeLimit->setmin(1) if $r->args; print $$;",
        "PerlModule Apache::SizeLimit",
    );
    server.text(&format!("{URL}?limit"));
    stays(&server);
}

#[test]
fn no_worker_leaves_below_the_limits() {
    let server = script(
        "use Apache::SizeLimit; Apache::SizeLimit->setmax(1e6); Apache::SizeLimit->setmax_unshared(1e6); print $$;",
        "",
    );
    stays(&server);
}

#[test]
fn debug_logs_the_sizes() {
    let server =
        script("use Apache::SizeLimit; $Apache::SizeLimit::DEBUG = 1; Apache::SizeLimit->setmax(1e6); print $$;", "");
    let pid = pid(&server);
    let line = server.logged("Apache::SizeLimit: pid=");
    assert!(line.contains(&format!("pid={pid} size=")) && line.contains("share="), "{line}");
    let server = script(
        "use Apache::GTopLimit; Apache::GTopLimit->set_max_size(1e6); print $$;",
        "PerlSetVar Apache::GTopLimit::DEBUG 1\nPerlModule Apache::GTopLimit",
    );
    server.text(URL);
    server.logged("Apache::GTopLimit: pid=");
}

#[test]
fn the_limits_of_all_requests_are_looked_at_every_so_often() {
    for (module, limit) in [("Apache::SizeLimit", "MAX_PROCESS_SIZE"), ("Apache::GTopLimit", "MAX_PROCESS_SIZE")] {
        let server = script(
            &format!("{module}::handler($r) == -1 or die; print $$;"),
            &format!(
                "PerlModule {module}\nPerlEval \"${module}::{limit} = 1024; ${module}::CHECK_EVERY_N_REQUESTS = 3\""
            ),
        );
        let pids: Vec<String> = (0..4).map(|_| pid(&server)).collect();
        assert_eq!([&pids[1], &pids[2]], [&pids[0], &pids[0]], "{module}");
        assert_ne!(pids[3], pids[0], "{module}: the third request was its last");
        assert!(server.logged("exits after this request").contains("requests=3"));
    }
}
