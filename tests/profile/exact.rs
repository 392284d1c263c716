//! `cameleer profile --exact`.

use super::site;
use crate::support::{Site, of_site};

const CODE: &str = "package My::Work; sub handler { my $r = shift; slow() for 1 .. 3; $r->send_http_header('text/plain'); $r->print('x'); 0 }\n\
    sub slow { my $n = 0; $n += $_ for 1 .. 5000; $n } 1;\n";

#[test]
fn one_request_is_timed_statement_by_statement() {
    let site = Site::new().file("lib/My/Work.pm", CODE);
    site.configure("PerlLib lib\n<Location /work>\nSetHandler perl-script\nPerlHandler My::Work\n</Location>");
    let output = site.cameleer(["profile", "--exact", "/work", "-f", "site.conf", "--out", "pages"]).succeeded().out;
    assert!(output.starts_with("/work: HTTP/1.1 200 OK\n"), "{output}");
    let slow = output.lines().find(|line| line.ends_with("My::Work::slow")).unwrap_or_else(|| panic!("{output}"));
    assert_eq!(slow.split_whitespace().nth(4), Some("3"), "three calls: {slow}");
    assert!(site.has("pages/index.html"), "{output}");
    assert_eq!(of_site(site.folder()), Vec::<i32>::new(), "nothing is left behind");
}

#[test]
fn the_status_of_the_response_is_printed() {
    let site = site();
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let output = site.cameleer(["profile", "--exact", "http://127.0.0.1/none", "-f", "site.conf", "--out", "pages"]);
    assert!(output.succeeded().out.starts_with("http://127.0.0.1/none: HTTP/1.1 200 OK\n"));
    site.configure("<Location />\nPsgiApp none.psgi\n</Location>");
    site.cameleer(["profile", "--exact", "/", "-f", "site.conf"]).failed(1, "did not start");
}
