//! The system gives the front no thread any more: `ulimit -u` of its user is reached.

use std::process::Command;

use crate::support::{Finished, Request, Server, Site};

/// How many processes and threads the front's user may have, changed while it runs. As that user: root may not have the
/// right to do it for others.
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
    // ana:secret
    let asked = || Request::get("/members/a.txt").header("Authorization", "Basic YW5hOnNlY3JldA==");
    allow_processes(&server, "0:");
    let refused = server.send(asked()).is(503);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let line = server.logged(": no thread: ");
    assert!(line.contains("ulimit -u"), "{line}");
    // Who cannot be told from those that are kept out is not let in.
    server.get("/friends/a.txt").is(503);
    server.logged("cannot look up a client's name: no thread: ");
    assert_eq!(server.text("/a.txt"), "for all");
    allow_processes(&server, "4096:");
    assert_eq!(server.send(asked()).is(200).text(), "for members");
    assert_eq!(server.text("/friends/a.txt"), "for most");
}
