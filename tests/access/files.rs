//! Files protected by name or folder are protected for every way to request them.

use super::site;
use crate::support::Request;

#[test]
fn files_that_begin_with_ht_are_never_served() {
    let site = site()
        .file("htdocs/.htpasswd", "ana:hash")
        .file("htdocs/place/.htaccess", "secret")
        .script("scripts/.htscript", "#!/usr/bin/perl\nprint \"Content-type: text/plain\\n\\nhash\";");
    let server = site.serve(
        "PerlLib lib\nPerlModule My\nScriptAlias /cgi/ scripts/\n\
         <Location /place/.htaccess>\nSetHandler perl-script\nPerlHandler My\n</Location>",
    );
    for target in [
        "/.htpasswd",
        "/%2ehtpasswd",
        "/.%68tpasswd",
        "//.htpasswd",
        "/x/../.htpasswd",
        "/.htpasswd/more",
        "/.htpasswd/",
        "/place/.htaccess",
        "/place/.htaccess/more",
        "/place/%2e%68%74access",
        "/cgi/.htscript",
        "/cgi/.htscript/more",
        "/.htnone",
    ] {
        let response = server.get(target);
        assert!(matches!(response.status, 403 | 404) && !response.text().contains("hash"), "{target}: {response:?}");
    }
    let response = server.get("/.htpasswd").is(403);
    assert!(!response.text().contains("ana"));
}

#[test]
fn a_name_that_only_looks_hidden_is_a_programs_own() {
    let site =
        site().script("scripts/a.pl", "#!/usr/bin/perl\nprint \"Content-type: text/plain\\n\\n$ENV{PATH_INFO}\";");
    let server = site.serve("ScriptAlias /cgi/ scripts/");
    assert_eq!(server.text("/cgi/a.pl/.htx"), "/.htx");
}

#[test]
fn a_rule_for_a_file_holds_with_more_of_a_path_behind_it() {
    let script = "#!/usr/bin/perl\nprint \"Content-type: text/plain\\n\\nran $ENV{SCRIPT_NAME}\";";
    let site = site()
        .script("scripts/secret.pl", script)
        .script("scripts/open.pl", script)
        .file("htdocs/secret.txt", "secret")
        .file("htdocs/secret.pl/open.txt", "a folder of that name");
    let server = site.serve("ScriptAlias /cgi/ scripts/\n<Files secret.*>\nDeny from all\n</Files>");
    for target in [
        "/cgi/secret.pl",
        "/cgi/secret.pl/",
        "/cgi/secret.pl/open.pl",
        "/cgi/%73ecret.pl/a/b",
        "/secret.txt",
        "/secret.txt/open",
    ] {
        server.get(target).is(403);
    }
    assert_eq!(server.text("/cgi/open.pl/more"), "ran /cgi/open.pl");
    assert_eq!(server.text("/secret.pl/open.txt"), "a folder of that name");
}

#[test]
fn an_index_is_as_protected_as_its_folder_and_its_name() {
    let site = site().file("htdocs/named/index.html", "inside").file("htdocs/shut/index.html", "inside");
    let server = site.serve(
        "<Location /named/index.html>\nDeny from all\n</Location>\n\
         <Directory @DIR@/htdocs/shut>\nDeny from all\n</Directory>\n\
         <Directory @DIR@/htdocs/shut>\n<Files index.html>\nAllow from all\n</Files>\n</Directory>",
    );
    server.get("/named/").is(403);
    server.get("/named/index.html").is(403);
    server.get("/shut/").is(403);
    server.get("/shut/index.html").is(200);
    server.get("/place/").is(200);
}

#[test]
fn a_script_that_sends_a_request_on_opens_no_door() {
    let site = site()
        .file("htdocs/shut/a.txt", "secret")
        .script("scripts/go.pl", "#!/usr/bin/perl\nprint \"Location: $ENV{QUERY_STRING}\\n\\n\";");
    let server = site.serve("ScriptAlias /cgi/ scripts/\n<Location /shut>\nDeny from all\n</Location>");
    server.get("/cgi/go.pl?/shut/a.txt").is(403);
    server.get("/cgi/go.pl?/place/").is(200);
}

#[test]
fn a_handler_that_declines_with_another_file_opens_no_door() {
    let site = site().file("htdocs/shut/a.txt", "secret").file("htdocs/a.txt", "open").file(
        "lib/Other.pm",
        "package Other;\nuse Apache::Constants qw(:common);\n\
         sub handler { my $r = shift; $r->filename($r->document_root . $r->args); DECLINED }\n1;\n",
    );
    let server = site.serve(
        "PerlLib lib\nPerlModule Other\n<Location /other>\nSetHandler perl-script\nPerlHandler Other\n</Location>\n\
         <Directory @DIR@/htdocs/shut>\nDeny from all\n</Directory>",
    );
    assert_eq!(server.send(Request::get("/other?/a.txt")).is(200).text(), "open");
    server.get("/other?/shut/a.txt").is(403);
    server.get("/other?/.htpasswd").is(404);
}
