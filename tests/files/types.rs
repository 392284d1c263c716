//! Extensions: types, encodings, languages, charsets, handlers.

use crate::support::{Site, serve_env_handler as serve};

#[test]
fn every_extension_of_a_name_counts() {
    let server = serve(
        "AddEncoding x-gzip .gz\nAddLanguage de .de\nAddCharset utf-8 .utf8\nAddType text/x-own own\n\
         <Location /forced>\nForceType text/x-forced\n</Location>\n\
         <Location /removed>\nRemoveEncoding .gz\nRemoveType .own\nDefaultType text/x-unknown\n</Location>",
    );
    for (path, expected) in [
        ("a.html.gz", ["text/html", "x-gzip", ""]),
        ("a.own.de.gz", ["text/x-own", "x-gzip", "de"]),
        ("a.txt.utf8.de", ["text/plain; charset=utf-8", "", "de"]),
        ("forced/a.html.gz", ["text/x-forced", "x-gzip", ""]),
        ("removed/a.own", ["text/x-unknown", "", ""]),
        ("removed/a.gz", ["application/gzip", "", ""]),
    ] {
        server.site.write(&format!("htdocs/{path}"), "x");
        let response = server.get(&format!("/{path}")).is(200);
        let value =
            ["content-type", "content-encoding", "content-language"].map(|n| response.header(n).unwrap_or_default());
        assert_eq!(value, expected, "{path}");
    }
}

/// mod_mime.html#modmimeusepathinfo
#[test]
fn the_end_of_path_info_may_give_the_type() {
    let server = serve("AcceptPathInfo On\n<Location /data>\nModMimeUsePathInfo On\n</Location>");
    for folder in ["data", "other"] {
        server.site.write(&format!("htdocs/{folder}/a"), "x");
    }
    let kind = |path: &str| server.get(path).is(200).header("content-type");
    assert_eq!(kind("/data/a/b.d/page.html").as_deref(), Some("text/html"));
    assert_eq!((kind("/data/a"), kind("/other/a/page.html")), (None, None));
}

#[test]
fn types_can_come_from_a_file() {
    let site = Site::new()
        .file("mime.types", "# types\ntext/x-listed\tlisted lst # more\ntext/x-html html\napplication/x-nothing\n")
        .file("htdocs/a.LST", "x")
        .file("htdocs/a.html", "x")
        .file("htdocs/a.css", "x");
    let server = site.serve("TypesConfig mime.types\nAddType text/x-added .lst2");
    for (path, kind) in [("/a.LST", Some("text/x-listed")), ("/a.html", Some("text/x-html")), ("/a.css", None)] {
        assert_eq!(server.get(path).header("content-type").as_deref(), kind, "{path}");
    }
    let site = Site::new();
    site.configure("\nTypesConfig none.types");
    let check = site.cameleer(["check", "-f", "site.conf"]);
    check.failed(78, "site.conf:2: TypesConfig: cannot read");
}

#[test]
fn an_extension_makes_a_file_a_program() {
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\", join '|', map { $_ // '' } @ENV{qw(SCRIPT_NAME PATH_INFO)}, $0;";
    let server = Site::new()
        .script("htdocs/a.cgi", script)
        .script("htdocs/sub/b.pl", script)
        .script("htdocs/data/c.cgi", script)
        .script("htdocs/picture.gif", "print qq(Content-Type: text/plain\\n\\nexecuted);")
        .serve(
            "Options +ExecCGI\nAddHandler cgi-script .cgi\nAddHandler perl-script .pl\nPerlHandler Apache::Registry\nPerlSendHeader On\n\
             <Directory \"@DIR@/htdocs/data\">\nRemoveHandler .cgi\n</Directory>",
        );
    assert_eq!(server.text("/a.cgi"), format!("/a.cgi||{}", server.site.path("htdocs/a.cgi").display()));
    assert!(server.text("/a.cgi/more/x.html").starts_with("/a.cgi|/more/x.html|"));
    assert!(server.text("/sub/b.pl?q").starts_with("/sub/b.pl||"));
    assert_eq!(server.text("/data/c.cgi"), script);
    server.get("/none.cgi").is(404);
    server.get("/picture.gif/x.cgi").is(404);
    server.get("/picture.gif/x.pl").is(404);
    assert!(server.get("/picture.gif").is(200).text().starts_with("print"));
}

#[test]
fn the_default_type_applies_to_files_and_handlers_without_a_type() {
    let code = "package My;\nsub handler { my $r = shift; my $kind = $r->content_type // 'none'; $r->can('send_http_header') && $r->send_http_header;\n\
        $r->print($kind); 0 }\n1;\n";
    let conf = "MaxClients 1\nStartServers 1\nPerlLib lib\nDefaultType text/plain\nAddType text/html .html\nAddType text/xml .mc\n";
    for place in ["SetHandler perl-script\nPerlHandler My", "SetHandler modperl\nPerlResponseHandler My"] {
        let modules =
            if place.contains("Response") { "use Apache2::RequestRec (); use Apache2::RequestIO ();\n" } else { "" };
        let site = crate::support::Site::new().file("lib/My.pm", &format!("{modules}{code}"));
        let server = site.file("htdocs/page.html", "x").serve(&format!("{conf}<Location />\n{place}\n</Location>"));
        for (path, kind) in [("/page.html", "text/html"), ("/page.mc", "text/xml")] {
            let response = server.get(path).is(200);
            assert_eq!(response.header("content-type").as_deref(), Some(kind), "{place} {path}");
            assert_eq!(response.text(), kind, "{place} {path}: what the handler finds");
        }
        for path in ["/page", "/page.odd"] {
            assert_eq!(server.get(path).header("content-type").as_deref(), Some("text/plain"), "{place} {path}");
        }
    }
}
