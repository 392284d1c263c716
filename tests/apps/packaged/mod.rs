//! Packaged programs by other authors, unmodified: tests/apps/packaged/site/README.md.

mod asp;
mod auth_cookie;
mod auth_dbi;
mod beside_apache;
mod browser;
mod cases;
mod dbi;
mod handlers;
mod mason;
mod packages;
mod tool;

use std::process::Command;

use crate::support::{Finished, Load, Server, Site, until};
use tool::output;

/// Copies the packaged programs into a site, and serves them.
#[track_caller]
fn serve() -> Server {
    let site = Site::new();
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site");
    let config = std::fs::read_to_string("/etc/usemod-wiki/config").expect("packages of pkg/debian-packages/test.txt");
    assert!(config.contains("USEMOD_DATADIR"), "run tests/apps/packaged/site/wiki-etc.sh once, as root");
    let mut prepare = Command::new("sh");
    prepare.arg(format!("{real}/prepare.sh")).arg(site.folder()).arg(site.port.to_string());
    Finished::of(&mut prepare).succeeded();
    let command = site.serve_command();
    Server::start(site, command)
}

#[test]
fn every_packaged_program_answers_as_under_apache_request_after_request() {
    let server = serve();
    let cases = cases::of(include_str!("site/cases.tsv"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for round in 1..=2 {
        for mount in ["r", "p", "-"] {
            for case in cases.iter().filter(|case| case.mounts.contains(mount)) {
                count += 1;
                let faults = case.ask(&server, mount, round);
                wrong.extend(faults.into_iter().map(|fault| format!("round {round} {mount} {}: {fault}", case.name)));
            }
        }
    }
    assert!(count > 200, "{count} cases were asked");
    assert!(wrong.is_empty(), "{} faults in {count} answers:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn under_load_and_across_reloads_no_request_of_a_packaged_program_is_lost() {
    let server = serve();
    let loads = [
        Load::start(&server, 1, "/perl/gitweb.cgi?p=demo.git;a=blob_plain;f=img/bytes.bin;hb=HEAD", |r| {
            r.status == 200 && r.body.len() == 1024
        }),
        Load::start(&server, 1, "/run/cvsweb/~checkout~/proj/logo.png", |r| r.status == 200 && r.body.len() == 207),
        Load::start(&server, 1, "/perl/awstats.pl?config=demo&year=2021&month=03&framename=mainright", |r| {
            r.text().contains("demo.example")
        }),
        Load::start(&server, 1, "/perl/info2www?(grep)Usage", |r| r.text().contains("(grep.info)Usage")),
        Load::start(&server, 2, "/guild/", |r| r.text().contains("Welcome to the")),
        Load::start(&server, 2, "/guestbook/stats", |r| r.text().contains("opened=1")),
    ];
    for _ in 0..2 {
        loads.iter().for_each(|load| load.until_answered(3));
        server.reload().succeeded();
    }
    loads.iter().for_each(|load| load.until_answered(3));
    let failures: Vec<String> = loads.into_iter().flat_map(Load::failures).collect();
    assert_eq!(failures, Vec::<String>::new());
    until("the old generations have left", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
}

#[test]
fn each_worker_has_one_open_database_connection() {
    let server = serve();
    // A single client might always meet the same worker.
    let load = Load::start(&server, 3, "/guestbook/stats", |response| response.text().contains("opened=1"));
    let mut workers = std::collections::HashSet::new();
    until("both workers have answered", || {
        let body = server.text("/guestbook/stats");
        assert!(body.contains("opened=1"), "{body}");
        workers.insert(body.split(' ').next().map(str::to_owned));
        workers.len() == 2
    });
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn curl_and_a_browser_see_the_packaged_programs() {
    let server = serve();
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", server.site.port);
    let tar =
        output("curl", &["-sf", "--compressed", &url("/perl/gitweb.cgi?p=demo.git;a=snapshot;h=HEAD;sf=tgz")], b"");
    assert!(output("tar", &["-tzf", "-"], &tar).starts_with(b"demo-HEAD-"));
    let posted =
        output("curl", &["-sfL", "-d", "name=Ana", "--data-urlencode", "message=Grüße", &url("/guestbook")], b"");
    assert!(String::from_utf8_lossy(&posted).contains("Grüße"));
    let page = browser::shows(&server, "/guestbook");
    assert!(page.contains("<h1>Guestbook</h1>") && page.contains("Grüße"), "{page}");
}
