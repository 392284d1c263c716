//! `Header` and `Header always` have a table each: mod/mod_headers.html. The cases of beside_httpd/mod_headers.txt have
//! httpd's answers.

use crate::support::{Server, Site};

fn serve(conf: &str) -> Server {
    Site::new()
        .file("htdocs/page.html", "<p>page</p>\n")
        .script(
            "cgi-bin/out",
            "#!/bin/sh\nprintf 'Content-Type: text/plain\\nX-Own: script\\nETag: \"t\"\\n\\nbody\\n'\n",
        )
        .script("cgi-bin/on", "#!/bin/sh\nprintf 'Location: /page.html\\nX-Own: script\\n\\n'\n")
        .script("cgi-bin/any", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'; echo $$\n")
        .script(
            "cgi-bin/secret",
            "#!/bin/sh\nprintf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\n'; echo $$\n",
        )
        .file(
            "lib/My.pm",
            "package My;\nuse Apache::Constants qw(OK);\n\
             sub handler { my $r = shift; $r->headers_out->set('X-Out' => 'handler');\n\
             $r->err_headers_out->add('X-Own' => $_) for 1, 2; $r->send_http_header('text/plain');\n\
             $r->rflush if $r->args; $r->print('perl'); OK }\n1;\n",
        )
        .serve(&format!(
            "PerlLib lib\nPerlModule My\nScriptAlias /cgi-bin/ @DIR@/cgi-bin/\n\
             <Location /perl>\nSetHandler perl-script\nPerlHandler My\n</Location>\n{conf}"
        ))
}

fn fields(server: &Server, path: &str, names: &[&str]) -> Vec<String> {
    let response = server.get(path);
    names.iter().map(|name| response.header(name).unwrap_or_default()).collect()
}

#[test]
fn header_adds_to_what_scripts_and_err_headers_out_have() {
    let server = serve("Header set X-Own front\nHeader set X-Out front\nHeader unset ETag");
    assert_eq!(fields(&server, "/cgi-bin/out", &["x-own", "etag"]), ["script, front", ""]);
    for path in ["/perl", "/perl?flushed"] {
        assert_eq!(fields(&server, path, &["x-own", "x-out"]), ["1, 2, front", "front"], "{path}");
    }
    assert_eq!(fields(&server, "/cgi-bin/on", &["x-own"]), ["script, front"]);
    assert_eq!(fields(&server, "/page.html", &["x-own", "etag"]), ["front", ""]);
}

#[test]
fn header_always_changes_what_scripts_and_err_headers_out_have() {
    let server = serve("Header always set X-Own front\nHeader always set X-Out front\nHeader always unset ETag");
    assert_eq!(fields(&server, "/cgi-bin/out", &["x-own", "etag"]), ["front", "\"t\""]);
    assert_eq!(fields(&server, "/perl", &["x-own", "x-out"]), ["front", "front, handler"]);
    assert_eq!(fields(&server, "/none", &["x-own"]), ["front"]);
}

#[test]
fn an_expression_of_a_rule_reads_both_tables() {
    let server = serve("Header set X-Seen \"expr=%{resp:X-Own}-%{resp:X-Out}\"");
    assert_eq!(fields(&server, "/perl", &["x-seen"]), ["1-handler"]);
}

#[test]
fn a_rule_does_not_store_what_a_script_keeps_out_of_caches() {
    let server = serve("CacheEnable memory /\nHeader set Cache-Control max-age=600");
    assert_eq!(server.text("/cgi-bin/any"), server.text("/cgi-bin/any"));
    assert_ne!(server.text("/cgi-bin/secret"), server.text("/cgi-bin/secret"));
    assert_eq!(fields(&server, "/cgi-bin/secret", &["cache-control"]), ["no-store, max-age=600"]);
}
