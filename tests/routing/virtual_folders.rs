//! `VirtualDocumentRoot`, `VirtualScriptAlias`: mod/mod_vhost_alias.html. tests/beside_httpd/mod_vhost_alias.txt has
//! more cases.

use std::os::unix::fs::symlink;

use crate::support::{Request, Response, Server, Site};

fn ask(server: &Server, host: &str, path: &str) -> Response {
    server.send(Request::get(path).header("Host", host))
}

/// mod_vhost_alias.html#interpol: the folder is named after the host, whose programs find it in DOCUMENT_ROOT.
#[test]
fn a_folder_and_its_programs_are_named_after_the_host() {
    let tell = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' \"$DOCUMENT_ROOT\"\n";
    let site = Site::new()
        .file("v/one.example/a.txt", "one")
        .file("v/two.example/a.txt", "two")
        .script("v/two.example/tell.cgi", tell)
        .script("scripts/two/tell", tell);
    let server = site.serve(
        "DocumentRoot @DIR@/htdocs\nVirtualDocumentRoot @DIR@/v/%0\nVirtualScriptAlias @DIR@/scripts/%1\n\
         AddHandler cgi-script .cgi\nOptions +ExecCGI",
    );
    assert_eq!(ask(&server, "one.example", "/a.txt").text(), "one");
    assert_eq!(ask(&server, "TWO.example.:8080", "/a.txt").text(), "two");
    let folder = |of: &str| server.site.path(of).display().to_string();
    assert_eq!(ask(&server, "two.example", "/tell.cgi").text(), folder("v/two.example"));
    assert_eq!(ask(&server, "two.example", "/cgi-bin/tell").text(), folder("scripts/two"));
    ask(&server, "three.example", "/a.txt").is(404);
}

/// The name is a stranger's text.
#[test]
fn no_host_header_selects_a_folder_outside_the_pattern() {
    let site = Site::new().file("secret.txt", "secret").file("v/_/a.txt", "nobody").file("v/a.b/b.txt", "b");
    let server = site.serve("VirtualDocumentRoot @DIR@/v/%0.1%0.2");
    for host in ["..", "../", "/", "..:80", "a/../..", "%2e%2e", ".", ""] {
        let answer = ask(&server, host, "/secret.txt");
        assert!(answer.status >= 400 && answer.text() != "secret", "{host}: {answer:?}");
    }
    let server = Site::new()
        .file("secret.txt", "secret")
        .file("v/_/a.txt", "nobody")
        .serve("VirtualDocumentRoot @DIR@/v/%0.2%0.4");
    ask(&server, "a.b.c", "/secret.txt").is(404);
    assert_eq!(ask(&server, "a.b.c", "/a.txt").text(), "nobody");
}

/// Responses and settings of one host reach no other one.
#[test]
fn hosts_share_no_cached_response() {
    let tell =
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\nCache-Control: max-age=60\\n\\n%s' \"$SCRIPT_FILENAME\"\n";
    let site = Site::new().script("v/one/tell.cgi", tell).script("v/two/tell.cgi", tell);
    let server = site.serve(
        "VirtualDocumentRoot @DIR@/v/%1\nAddHandler cgi-script .cgi\nOptions +ExecCGI\nCacheSize 1M\nCacheEnable memory /",
    );
    for host in ["one.example", "two.example", "one.example"] {
        let folder = host.split('.').next().unwrap_or_default();
        let text = ask(&server, host, "/tell.cgi").is(200).text();
        assert!(text.ends_with(&format!("/v/{folder}/tell.cgi")), "{text}");
    }
}

/// The worker finds the files of subrequests, and the document root, by the name too.
#[test]
fn a_perl_handler_has_the_folder_of_its_host() {
    let code = "package My; sub handler { my $r = shift; $r->send_http_header('text/plain'); \
                $r->print(join ' ', $r->document_root, $r->lookup_uri('/a.txt')->filename, $ENV{DOCUMENT_ROOT}); 0 } 1;";
    let site = Site::new().file("My.pm", code).file("v/one/a.txt", "one");
    let server = site.serve(
        "PerlLib @DIR@\nPerlModule My\nVirtualDocumentRoot @DIR@/v/%1\n<Location /my>\nSetHandler perl-script\n\
         PerlHandler My\n</Location>",
    );
    let folder = server.site.path("v/one").display().to_string();
    assert_eq!(ask(&server, "one.example", "/my").is(200).text(), format!("{folder} {folder}/a.txt {folder}"));
}

/// A tenant may own the folders behind the first `%`, and replace them by links.
#[test]
fn a_link_in_a_tenants_part_of_the_path_needs_the_permission_of_options() {
    let site = Site::new().file("secret/a.txt", "secret").file("v/ann/www/a.txt", "ann").file("v/bob/a.txt", "");
    symlink(site.path("secret"), site.path("v/bob/www")).expect("a link");
    let conf = "VirtualDocumentRoot @DIR@/v/%1/www\n<Directory @DIR@/v>\nOptions -FollowSymLinks\n</Directory>\n";
    let server = site.serve(conf);
    assert_eq!(ask(&server, "ann.example", "/a.txt").is(200).text(), "ann");
    ask(&server, "bob.example", "/a.txt").is(403);
}
