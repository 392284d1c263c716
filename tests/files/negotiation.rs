//! MultiViews and type maps: mod/mod_negotiation.html, content-negotiation.html. tests/beside_httpd/negotiation has
//! more cases.

use crate::support::{Request, Site, serve_echo_script as serve};

fn in_language(path: &str, languages: &str) -> Request {
    Request::get(path).header("Accept-Language", languages)
}

#[test]
fn a_page_is_found_by_a_part_of_its_name_in_the_clients_language() {
    let server = serve("Options +MultiViews\nAddLanguage de .de\nAddLanguage en .en\nLanguagePriority en");
    server.site.write("htdocs/about.html.de", "de");
    server.site.write("htdocs/about.html.en", "en");
    for (path, languages, expected) in
        [("/about", "de", "de"), ("/about.html", "en;q=0.5,de;q=0.4", "en"), ("/about", "*", "en")]
    {
        let response = server.send(in_language(path, languages)).is(200);
        assert_eq!(response.text(), expected, "{path} {languages}");
        assert_eq!(response.header("content-location").as_deref(), Some(&*format!("about.html.{expected}")));
        assert_eq!(response.header("vary").as_deref(), Some("negotiate,accept-language"));
    }
    let list = server.send(in_language("/about", "fr")).is(406);
    assert!(list.text().contains("<li><a href=\"about.html.de\">about.html.de</a> , type text/html, language de</li>"));
    server.logged("no variant is acceptable to the client");
}

/// A changed list of variants changes the tag of each, so that a cache asks again.
#[test]
fn the_tag_of_a_variant_changes_with_the_list() {
    let server = serve("Options +MultiViews");
    let tag = || server.get("/plain").is(200).header("etag").expect("a tag");
    let before = tag();
    let request = || Request::get("/plain").header("If-None-Match", &before);
    server.send(request()).is(304);
    server.site.write("htdocs/plain.png", "more than plain");
    assert_ne!(tag(), before);
    server.send(request()).is(200);
}

#[test]
fn a_new_file_is_a_variant_at_once_and_a_removed_one_none() {
    let server = serve("Options +MultiViews");
    server.get("/new").is(404);
    server.site.write("htdocs/new.txt", "longer text");
    assert_eq!(server.text("/new"), "longer text");
    server.site.write("htdocs/new.html", "short");
    assert_eq!(server.text("/new"), "short");
    std::fs::remove_file(server.site.path("htdocs/new.html")).expect("the file was there");
    assert_eq!(server.text("/new"), "longer text");
}

#[test]
fn a_program_of_script_alias_that_is_found_by_a_part_of_its_name_is_executed() {
    let site = Site::new().script("cgi/act.html", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\noutput'\n");
    let options = "<Directory \"@DIR@/cgi\">\nOptions +MultiViews\n</Directory>";
    let server = site.serve(&format!("ScriptAlias /cgi/ \"@DIR@/cgi/\"\n{options}"));
    assert_eq!(server.text("/cgi/act"), "output");
}

#[test]
fn a_script_is_found_by_its_name_with_query_and_trailing_path() {
    let server = serve(
        "AddHandler cgi-script .cgi\nMultiviewsMatch Handlers\n<Directory \"@DIR@/htdocs\">\nOptions +MultiViews +ExecCGI\n</Directory>",
    );
    let script = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s %s %s' \"$SCRIPT_NAME\" \"$PATH_INFO\" \"$QUERY_STRING\"\n";
    let site = Site::new().script("x", script);
    std::fs::copy(site.path("x"), server.site.path("htdocs/act.cgi")).expect("a copy");
    assert_eq!(server.text("/act?a=1"), "/act.cgi  a=1");
    assert_eq!(server.text("/act/more/x"), "/act.cgi /more/x ");
    // A query asks for a program, as in httpd; without one, the page is better.
    server.site.write("htdocs/act.html", "page");
    assert_eq!((server.text("/act?a=1"), server.text("/act")), ("/act.cgi  a=1".to_owned(), "page".to_owned()));
}

#[test]
fn a_perl_handler_by_extension_answers_a_name_without_it() {
    let server = Site::new()
        .script("htdocs/page.pl", "my $r = shift; $r->content_type('text/plain'); print 'perl ', $r->uri;")
        .serve(
            "<FilesMatch \\.pl$>\nSetHandler perl-script\nPerlHandler Apache::Registry\n</FilesMatch>\nOptions +MultiViews +ExecCGI",
        );
    assert_eq!(server.text("/page"), "perl /page.pl");
}

/// Each variant has its own access rules, and a variant that the client may not read is none.
#[test]
fn a_variant_that_the_client_may_not_read_is_not_sent() {
    let server = serve(
        "Options +MultiViews\n<Files shut.html>\nRequire all denied\n</Files>\n\
         <Files \"*.private.*\">\nAuthType Basic\nAuthName x\nAuthUserFile @DIR@/users\nRequire valid-user\n</Files>\n\
         <Location /closed>\nRequire all denied\n</Location>",
    );
    server.site.write("users", "ann:{SHA}qvTGHdzF6KLavt4PO0gs2a6pQ00=\n");
    for name in ["shut.html", "shut.txt", "both.private.html", "both.txt", "closed/a.html"] {
        server.site.write(&format!("htdocs/{name}"), name);
    }
    server.site.write("htdocs/only.private.html", "only");
    assert_eq!(server.text("/shut"), "shut.txt");
    server.get("/only").is(404);
    server.get("/closed/a").is(403);
    server.get("/closed/none").is(403);
}

/// DirectoryIndex without an extension, and an error document that is negotiated.
#[test]
fn indexes_and_error_documents_are_negotiated() {
    let server = serve(
        "Options +MultiViews\nDirectoryIndex index\nErrorDocument 404 /errors/404\nAddLanguage de .de\nAddLanguage en .en",
    );
    server.site.write("htdocs/folder/index.html.de", "index de");
    server.site.write("htdocs/folder/index.html.en", "index en");
    server.site.write("htdocs/errors/404.html.de", "404 de");
    server.site.write("htdocs/errors/404.html.en", "404 en");
    assert_eq!(server.send(in_language("/folder/", "de")).is(200).text(), "index de");
    assert_eq!(server.send(in_language("/none", "en")).is(404).text(), "404 en");
}

#[test]
fn a_type_map_lists_variants_and_may_contain_them() {
    let server = serve("AddHandler type-map .var");
    server.site.write(
        "htdocs/a.var",
        "URI: page.html\nContent-Type: text/html; qs=0.5\n\nURI: plain.txt\nContent-Type: text/plain\n",
    );
    server.site.write("htdocs/b.var", "Content-Type: text/plain\nContent-Language: de\nBody:--end--\nHallo\n--end--\n");
    server.site.write("htdocs/loop.var", "URI: loop.var\nContent-Type: text/html\n");
    assert_eq!(server.text("/a.var"), "plain\n");
    let request = Request::get("/a.var").header("Accept", "text/html");
    assert_eq!(server.send(request).is(200).text(), "<p>page</p>\n");
    let own = server.get("/b.var").is(200);
    assert_eq!((own.text().as_str(), own.header("content-language").as_deref()), ("Hallo\n", Some("de")));
    server.get("/loop.var").is(500);
}

/// SECURITY.md: bounds of what a folder's owner may cost.
#[test]
fn type_maps_and_folders_have_a_limit() {
    let server = serve("Options +MultiViews\nAddHandler type-map .var");
    server.site.write("htdocs/large.var", &"#".repeat(70_000));
    server.get("/large.var").is(500);
    server.logged("a type map may have at most 64 KB");
    for number in 0..101 {
        server.site.write(&format!("htdocs/many.{number:03}.txt"), &"x".repeat(200 - number));
    }
    server.get("/many").is(404);
    server.site.write("htdocs/full/last.txt", "x");
    for number in 0..10_001 {
        server.site.write(&format!("htdocs/full/{number}"), "");
    }
    let _ = server.get("/full/last");
    server.logged("MultiViews: compares the first 100 files for a name, and the first 10000 names of a folder");
}

#[test]
fn invalid_directives_are_named() {
    for (line, message) in [
        ("ForceLanguagePriority None Prefer", "None cannot be combined with Prefer or Fallback"),
        ("ForceLanguagePriority Some", "expected None, Prefer or Fallback, got \"Some\""),
        ("MultiviewsMatch Any Handlers", "Any and NegotiatedOnly stand alone"),
    ] {
        let site = Site::new();
        site.configure(&format!("\n{line}\n"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, message);
    }
}
