//! Files and folders in places with Perl handlers: the file's own sections apply, whatever the way to the file.

use super::site;
use crate::support::{Server, Site};

const CODE: &str = "use Apache2::Filter ();\n\
    sub handler { my $r = shift; $r->print(join '|', 'ran', $r->path_info, $r->dir_config('Of') // 'none'); 0 }\n\
    sub deny { 403 }\nsub decline { -1 }\n\
    sub upper { my $f = shift; while ($f->read(my $t, 4096)) { $f->print(uc $t) } 0 }\n";

fn with_files() -> Site {
    site(CODE)
        .file("htdocs/cgi/admin.pl", "print 'secret';")
        .file("htdocs/cgi/var.pl", "print 'secret';")
        .file("htdocs/sec/secret.html", "secret\n")
        .file("htdocs/sub/index.html", "index of sub\n")
}

#[track_caller]
fn serve(lines: &str) -> Server {
    let common = "DocumentRoot htdocs\nMaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\nDirectoryIndex secret.html index.html\n\
        <Directory htdocs/cgi>\nSetHandler modperl\nPerlResponseHandler My\nPerlSetVar Of folder\n</Directory>\n\
        <Files admin.pl>\nPerlAccessHandler My::deny\n</Files>\n<Files var.pl>\nPerlSetVar Of file\n</Files>\n";
    with_files().serve(&format!("{common}{lines}"))
}

#[test]
fn a_files_section_applies_with_any_path_info() {
    let server = serve("");
    for path in ["/cgi/admin.pl", "/cgi/admin.pl/x", "/cgi/admin.pl/", "/cgi/admin.pl/var.pl"] {
        assert_eq!(server.get(path).status, 403, "{path}");
    }
    assert_eq!(server.text("/cgi/var.pl"), "ran||file");
    assert_eq!(server.text("/cgi/var.pl/x/y"), "ran|/x/y|file");
    assert_eq!(server.text("/cgi/none/x"), "ran|/x|folder");
}

#[test]
fn native_rules_of_a_file_hold_behind_its_name_where_perl_translates() {
    let server = serve("PerlTransHandler My::decline\n<Files var.pl>\nRequire all denied\n</Files>\n");
    for path in ["/cgi/var.pl", "/cgi/var.pl/x"] {
        assert_eq!(server.get(path).status, 403, "{path}");
    }
}

#[test]
fn an_index_file_has_its_own_phases_and_filters() {
    let fixup = "<Directory htdocs>\nPerlFixupHandler My::decline\n</Directory>\n";
    let server = serve(&format!("{fixup}<Files secret.html>\nPerlAccessHandler My::deny\n</Files>\n"));
    for path in ["/sec/secret.html", "/sec/"] {
        assert_eq!(server.get(path).status, 403, "{path}");
    }
    assert_eq!(server.text("/sub/"), "index of sub\n");
    let server = serve("AcceptPathInfo On\n<Directory htdocs>\nPerlOutputFilterHandler My::upper\n</Directory>\n");
    for path in ["/sub/index.html", "/sub/", "/sub/index.html/x"] {
        assert_eq!(server.text(path), "INDEX OF SUB\n", "{path}");
    }
}

#[test]
fn a_script_alias_with_a_handler_of_its_own_is_no_cgi() {
    let alias = "ScriptAlias /z/ htdocs/cgi/\n<Location /z>\nSetHandler modperl\nPerlResponseHandler My\nPerlSetVar Of place\n</Location>\n";
    let server = serve(alias);
    assert_eq!(server.text("/z/var.pl"), "ran||place");
    assert_eq!(server.text("/z/nothing"), "ran||place");
}

const LEADS: &str = "<Location /missing>\nSetHandler modperl\nPerlResponseHandler My::missing\n</Location>\n\
    <Location /ir>\nSetHandler modperl\nPerlResponseHandler My::redirects\nForceType application/x-wrong\nHeader set X-From first\n</Location>\n\
    <Location /sub>\nHeader set X-From second\n</Location>\n\
    <Location /looks>\nSetHandler modperl\nPerlResponseHandler My::looks\n</Location>\n";

#[track_caller]
fn serve_leads(lines: &str) -> Server {
    let code = "use Apache2::SubRequest ();\nsub missing { 404 }\nsub redirects { my $r = shift; $r->internal_redirect($r->args); 0 }\n\
        sub looks { my $r = shift; my $sub = $r->lookup_uri($r->args); my $status = $sub->status; $r->print(\"$status \", $sub->run, \"\\n\"); 0 }\n\
        sub says { $_[0]->print('said ', $_[0]->args // ''); 0 }";
    site(&format!("{CODE}{code}"))
        .file("htdocs/sub/index.html", "index of sub\n")
        .file("htdocs/bare/x.txt", "x\n")
        .serve(&format!(
            "DocumentRoot htdocs\nMaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\n{LEADS}{lines}"
        ))
}

#[test]
fn a_subrequest_for_what_no_uri_means_has_a_status_only() {
    let server = serve_leads("");
    for (uri, status) in [("/../../x", 400), ("/%zz", 400), ("/a%00b", 404), ("/a%2fb", 404)] {
        assert_eq!(server.text(&format!("/looks?{uri}")), format!("{status} {status}\n"), "{uri}");
    }
}

#[test]
fn a_folder_that_a_program_leads_to_is_answered_by_its_index() {
    let server = serve_leads("ErrorDocument 404 /sub/\n");
    for (path, status) in [("/missing", 404), ("/ir?/sub/", 200)] {
        let response = server.get(path);
        assert_eq!((response.status, response.text()), (status, "index of sub\n".to_owned()), "{path}");
    }
    let moved = server.get("/ir?/sub");
    assert_eq!((moved.status, moved.header("Location")), (301, Some("/sub/".to_owned())));
    assert_eq!(server.get("/ir?/bare/").status, 403);
    assert_eq!(server.text("/looks?/sub/"), "index of sub\n200 0\n");
    assert_eq!(server.text("/looks?/bare/"), "200 403\n");
    assert_eq!(server.text("/looks?/sub"), "301 301\n");
}

#[test]
fn an_index_that_is_a_program_answers_where_a_program_leads_to_its_folder() {
    let program = "<Location /sub/index.html>\nSetHandler modperl\nPerlResponseHandler My::says\n</Location>\n";
    let server = serve_leads(&format!("{program}ErrorDocument 404 /sub/?page\n"));
    assert_eq!(server.text("/ir?/sub/?a=b"), "said a=b");
    let missing = server.get("/missing");
    assert_eq!((missing.status, missing.text()), (404, "said page".to_owned()));
}

#[test]
fn headers_from_the_configuration_are_those_of_the_responding_place() {
    let handler =
        "<Location /says>\nSetHandler modperl\nPerlResponseHandler My::says\nHeader set X-From third\n</Location>\n";
    let server = serve_leads(handler);
    for (path, from, kind) in [("/ir?/sub/index.html", "second", Some("text/html")), ("/ir?/says", "third", None)] {
        let response = server.get(path).is(200);
        assert_eq!(response.header("X-From").as_deref(), Some(from), "{path}");
        let value = response.header("Content-Type");
        assert_eq!(value.as_deref().and_then(|value| value.split(';').next()), kind, "{path}");
    }
}

#[test]
fn a_folder_with_a_handler_is_led_to_its_slash_and_its_index_as_in_mod_dir() {
    let handler = "package My; use Apache2::RequestRec (); use Apache2::RequestIO ();\n\
        sub handler { my $r = shift; $r->content_type('text/plain'); $r->print('ran ' . $r->uri); 0 }\n1;\n";
    let place = "SetHandler modperl\nPerlResponseHandler My";
    let conf = format!(
        "PerlGeneration 2\nPerlLib \"@DIR@\"\nPerlModule My\nDirectoryIndex index.html\n<Location /bare>\n{place}\n</Location>\n\
         <Location /full>\n{place}\n</Location>\n<Location /check>\n{place}\nDirectoryCheckHandler On\n</Location>\n\
         <Location /off>\n{place}\nDirectorySlash Off\n</Location>\n"
    );
    let site = Site::new().file("My.pm", handler);
    for name in ["bare/a.txt", "full/index.html", "check/index.html", "off/a.txt"] {
        site.write(&format!("htdocs/{name}"), "x");
    }
    let server = site.serve(&conf);
    for (path, to) in [("/bare?q=1", "/bare/?q=1"), ("/full", "/full/"), ("/check", "/check/")] {
        let response = server.get(path).is(301);
        assert!(response.header("location").expect("a place").ends_with(to), "{path}: {response:?}");
    }
    assert_eq!(server.text("/bare/"), "ran /bare/");
    assert_eq!(server.text("/full/"), "ran /full/index.html");
    assert_eq!(server.text("/check/"), "ran /check/");
    assert_eq!(server.text("/off"), "ran /off");
    assert_eq!(server.text("/bare/none"), "ran /bare/none");
}
