//! The front cannot start threads because its user has reached `ulimit -u`.

use std::process::Command;

use crate::support::{Finished, Request, Server, Site};

/// Sets the limit on processes and threads of the running front. prlimit runs as the front's user, because root may
/// lack the right to change another user's limits.
fn allow_processes(server: &Server, most: &str) {
    let front = server.status()["front_pid"].to_string();
    let mut prlimit = Command::new("setpriv");
    prlimit.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "prlimit", "--pid", &front]);
    Finished::of(prlimit.arg(format!("--nproc={most}"))).succeeded();
}

#[test]
fn without_a_thread_a_password_is_a_503_and_all_else_is_served() {
    let hash = Finished::of(Command::new("openssl").args(["passwd", "-6", "secret"])).succeeded().out;
    let conf = "User nobody\nGroup nogroup\n<Location /members>\nAuthType Basic\nAuthName Members\nAuthUserFile users\n\
        Require valid-user\n</Location>\n<Location /friends>\n<RequireAll>\nRequire all granted\nRequire not host example.org\n</RequireAll>\n</Location>";
    let site = Site::new().file("users", &format!("ana:{hash}"));
    let server = site
        .file("htdocs/members/a.txt", "for members")
        .file("htdocs/friends/a.txt", "for most")
        .file("htdocs/a.txt", "for all")
        .serve(conf);
    // Credentials: ana:secret
    let request = || Request::get("/members/a.txt").header("Authorization", "Basic YW5hOnNlY3JldA==");
    allow_processes(&server, "0:");
    let refused = server.send(request()).is(503);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let line = server.logged(": no thread: ");
    assert!(line.contains("ulimit -u"), "{line}");
    // A client whose host name cannot be looked up is not let in, because it may be an excluded host.
    server.get("/friends/a.txt").is(503);
    server.logged("cannot look up a client's name: no thread: ");
    assert_eq!(server.text("/a.txt"), "for all");
    allow_processes(&server, "4096:");
    assert_eq!(server.send(request()).is(200).text(), "for members");
    assert_eq!(server.text("/friends/a.txt"), "for most");
}
