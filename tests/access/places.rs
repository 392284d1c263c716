//! Settings of a place that a request reaches inside a worker: links, variables, `.htaccess` files.

use std::os::unix::fs::symlink;

use super::site;
use crate::support::{Request, Server};

const CODE: &str = r#"package Way; use strict; use Apache::Constants qw(:common);
sub trans { my $r = shift; return DECLINED unless $r->uri eq '/trans'; $r->uri(scalar $r->args); DECLINED }
sub file { my $r = shift; return DECLINED unless $r->uri eq '/file'; $r->filename('@DIR@/htdocs' . $r->args); OK }
sub redirect { my $r = shift; $r->internal_redirect(scalar $r->args); OK }
sub uri { my $r = shift; part($r, $r->lookup_uri(scalar $r->args)) }
sub path { my $r = shift; part($r, $r->lookup_file('@DIR@/htdocs' . $r->args)) }
sub part { my ($r, $s) = @_; $r->send_http_header('text/plain'); my $said = $s->run; $r->print($said || $s->status); OK }
sub show { my $r = shift; $r->send_http_header('text/plain') if $r->is_main;
    $r->print(join '|', map { $_ // '-' } $ENV{PLACE}, $r->subprocess_env('ROBOT'), $ENV{ONCE}, $ENV{REDIRECT_ONCE}); OK }
1;
"#;
/// Methods that lead to another place and produce the whole response; [`PARTS`] produce a part of it.
const WHOLE: [&str; 3] = ["/trans", "/file", "/redirect"];
const PARTS: [&str; 2] = ["/uri", "/path"];

fn serve(conf: &str) -> Server {
    let site = ["free/a.txt", "strict/a.txt", "owned/a.txt"]
        .iter()
        .fold(site().file("lib/Way.pm", CODE), |site, name| site.file(&format!("htdocs/{name}"), "welcome"));
    for folder in ["free", "strict", "owned"] {
        symlink("a.txt", site.path(&format!("htdocs/{folder}/link.txt"))).expect("a link in our own folder");
    }
    symlink("free", site.path("htdocs/strict/inner")).expect("a link in our own folder");
    let ways = ["redirect", "uri", "path"]
        .map(|way| format!("<Location /{way}>\nSetHandler perl-script\nPerlHandler Way::{way}\n</Location>\n"));
    site.serve(&format!(
        "PerlLib lib\nPerlModule Way\nPerlTransHandler Way::trans Way::file\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         {}<Location /show>\nSetHandler perl-script\nPerlHandler Way::show\n</Location>\n{conf}",
        ways.concat()
    ))
}

#[track_caller]
fn expect(server: &Server, place: &str, expected: u16) {
    for way in WHOLE {
        server.get(&format!("{way}?{place}")).is(expected);
    }
    for way in PARTS {
        let body = server.text(&format!("{way}?{place}"));
        assert_eq!(body, if expected == 200 { "welcome200".to_owned() } else { expected.to_string() }, "{way} {place}");
    }
}

#[test]
fn links_are_followed_where_the_place_allows_it() {
    let server = serve(
        "<Directory @DIR@/htdocs/strict>\nOptions None\n</Directory>\n\
         <Directory @DIR@/htdocs/owned>\nOptions SymLinksIfOwnerMatch\n</Directory>",
    );
    for place in ["/free/a.txt", "/free/link.txt", "/strict/a.txt", "/owned/link.txt"] {
        expect(&server, place, 200);
    }
    expect(&server, "/strict/link.txt", 403);
    expect(&server, "/strict/inner/a.txt", 403);
    server.logged("a symbolic link");
}

#[test]
fn set_env_if_tests_the_final_uri() {
    let server = serve(
        "SetEnvIf Request_URI ^/free/ closed\n<Directory @DIR@/htdocs/free>\nOrder allow,deny\nAllow from all\nDeny from env=closed\n</Directory>",
    );
    server.get("/free/a.txt").is(403);
    for way in ["/trans", "/redirect"] {
        server.get(&format!("{way}?/free/a.txt")).is(403);
    }
    assert_eq!(server.text("/uri?/free/a.txt"), "403");
    assert_eq!(server.text("/uri?/strict/a.txt"), "welcome200");
}

#[test]
fn the_location_of_the_final_uri_sets_and_unsets_variables() {
    let server = serve(
        "SetEnvIf Request_URI ^/(redirect|uri|trans) ONCE\n\
         <Location /show>\nSetEnvIf Request_URI ^/(\\w+)/(\\w+) PLACE=$2\nBrowserMatch Robot ROBOT=yes\nSetEnvIf Request_URI . !ONCE\n</Location>",
    );
    let ask =
        |way: &str| server.send(Request::get(&format!("{way}?/show/here")).header("User-Agent", "Robot/1")).text();
    assert_eq!(ask("/redirect"), "here|yes|-|1");
    assert_eq!(ask("/uri"), "here|yes|-|-200");
    assert_eq!(ask("/trans"), "here|yes|-|-");
}

#[test]
fn a_change_of_a_htaccess_file_is_seen_on_every_way() {
    let server = serve("");
    for round in 0..3 {
        for (text, expected) in [("Deny from all", 403), ("#eny from all", 200)] {
            server.site.write("htdocs/free/.htaccess", text);
            for way in ["/redirect", "/trans", "/file"] {
                server.get(&format!("{way}?/free/a.txt")).is(expected);
            }
            let body = server.text("/uri?/free/a.txt");
            assert_eq!(body == "welcome200", expected == 200, "round {round}: {body}");
        }
    }
}
