//! `RewriteMap name prg:…`

use std::path::Path;

use crate::support::{Server, Site, alive, until};

fn serve(program: &str) -> Server {
    let rules = "FrontThreads 1\nRewriteEngine On\nRewriteMap m \"prg:@DIR@/map.sh with arguments\"\n\
        RewriteRule ^/m/(.*)$ /${m:$1|default}.txt\n";
    ["ana", "default", "page"]
        .into_iter()
        .fold(Site::new(), |site, name| site.file(&format!("htdocs/{name}.txt"), name))
        .script("map.sh", &format!("#!/bin/sh\necho $$ >> @DIR@/started\n{program}"))
        .serve(rules)
}

fn started(server: &Server) -> Vec<i32> {
    server.site.read("started").lines().filter_map(|pid| pid.parse().ok()).collect()
}

#[test]
fn a_program_is_started_once_and_answers_each_key() {
    let server =
        serve("while read -r key; do case $key in ana) echo ana;; arg) echo \"$#\";; *) echo null;; esac; done\n");
    assert!(started(&server).is_empty(), "nothing is started before a rule needs it");
    for _ in 0..3 {
        assert_eq!(server.text("/m/ana"), "ana");
        assert_eq!(server.text("/m/ben"), "default");
    }
    server.get("/m/arg").is(404);
    assert_eq!(server.text("/m/x%0ay"), "default", "a key with a line end has no value");
    let pids = started(&server);
    assert_eq!(pids.len(), 1);
    server.reload().succeeded();
    assert_eq!(server.text("/m/ana"), "ana");
    until("the program of the old configuration has ended", || !alive(pids[0]));
    assert_eq!(started(&server).len(), 2);
}

#[test]
fn a_program_that_hangs_harms_only_its_rule() {
    let server = serve("read -r key\nsleep 1000\n");
    assert_eq!(server.text("/m/ana"), "default");
    server.logged("no answer within 2 s");
    assert_eq!(server.text("/m/ana"), "default", "it is not started again at once");
    assert_eq!(server.text("/page.txt"), "page");
    let pid = started(&server)[0];
    until("the program has been killed", || !alive(pid) || !Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(started(&server).len(), 1);
}

#[test]
fn a_map_program_that_ends_or_writes_too_much_has_no_value() {
    for (program, expected) in [
        ("exit 1\n", "the program has ended"),
        ("while read -r key; do printf 'a\\nb\\n'; done\n", "more than one line"),
        ("while read -r key; do head -c 100000 /dev/zero; done\n", "the program's line is too long"),
    ] {
        let server = serve(program);
        assert_eq!(server.text("/m/ana"), "default", "{expected}");
        server.logged(expected);
        assert_eq!(server.text("/page.txt"), "page");
    }
}
