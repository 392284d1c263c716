//! Commands beside a running server of the same site.

use std::process::Command;

use super::{FEW, tune};
use crate::support::{Server, Site, free_port};

const CODE: &str =
    "package My::Work; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('ok'); 0 } 1;\n";

/// A running server with everything that a second one must not touch.
fn serve() -> Server {
    let root = nix::unistd::geteuid().is_root();
    let user = if root { "User www-data\nGroup www-data\n" } else { "" };
    let site = Site::new().file("lib/My/Work.pm", CODE);
    if root {
        // Workers of www-data read the site's files.
        let done = Command::new("chmod").arg("-R").arg("a+rX").arg(site.folder()).status().expect("chmod is there");
        assert!(done.success());
    }
    site.serve(&format!(
        "{user}AdminListen 127.0.0.1:{}\nHistoryFile @DIR@/history\nPerlLib lib\n\
         <Location />\nSetHandler perl-script\nPerlHandler My::Work\n</Location>\n",
        free_port()
    ))
}

#[test]
fn tune_profile_and_check_run_beside_a_running_server() {
    let server = serve();
    assert_eq!(server.text("/"), "ok");
    let site = &server.site;
    tune(site, FEW).succeeded();
    let said = site.cameleer(["profile", "--exact", "/", "-f", "site.conf", "--out", "pages"]).succeeded().out;
    assert!(said.starts_with("/: HTTP/1.1 200 OK\n") && said.contains("My::Work::handler"), "{said}");
    site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert_eq!(site.read("cameleer.pid").trim(), server.pid().to_string());
    assert!(!server.log().contains("history"), "the file has one writer: {}", server.log());
    assert_eq!(server.status()["generation"], 1);
    assert_eq!(server.text("/"), "ok");
}
