//! `<If>`, `<ElseIf>`, `<Else>`: mod/core.html#if. More cases are beside httpd, in `tests/beside_httpd/expr`.

use crate::support::{Request, Server, Site};

fn field(server: &Server, target: &str, name: &str) -> String {
    server.get(target).header(name).unwrap_or_default()
}

#[test]
fn one_section_of_a_chain_applies_after_every_location() {
    let server = Site::new().file("htdocs/a.txt", "a").serve(
        "<If \"%{QUERY_STRING} == 'one'\">\nHeader set X one\n</If>\n\
         <ElseIf \"%{QUERY_STRING} =~ /^t/\">\nHeader set X two\n</ElseIf>\n\
         <Else>\nHeader set X else\n<If \"%{QUERY_STRING} == 'inner'\">\nHeader set X inner\n</If>\n</Else>\n\
         <Location />\nHeader set X location\n<If \"-z %{QUERY_STRING}\">\nHeader set Y empty\n</If>\n</Location>\n",
    );
    for (query, x, y) in
        [("one", "one", ""), ("two", "two", ""), ("inner", "inner", ""), ("other", "else", ""), ("", "else", "empty")]
    {
        let target = format!("/a.txt?{query}");
        assert_eq!(
            (field(&server, &target, "X"), field(&server, &target, "Y")),
            (x.to_owned(), y.to_owned()),
            "{query}"
        );
    }
}

#[test]
fn access_files_handlers_and_variables_may_depend_on_a_condition() {
    let show = "package Show; sub handler { my $r = shift; $r->send_http_header('text/plain');\n\
                $r->print(\"$ENV{INSIDE} \" . $r->dir_config('Mode')); 0 }\n1;\n";
    let server = Site::new()
        .file("lib/Show.pm", show)
        .file("htdocs/a.txt", "a")
        .file("htdocs/dir/index.html", "index")
        .file("htdocs/dir/other.txt", "other")
        .serve(
            "PerlLib lib\nPerlModule Show\n\
             <If \"%{QUERY_STRING} == 'shut'\">\nRequire all denied\n</If>\n\
             <If \"%{QUERY_STRING} == 'other'\">\nDirectoryIndex other.txt\n</If>\n\
             <If \"%{QUERY_STRING} == 'perl'\">\nSetHandler perl-script\nPerlHandler Show\nSetEnv INSIDE yes\n\
             PerlSetVar Mode conditional\n</If>\n\
             <If \"%{QUERY_STRING} == 'away'\">\nRedirect /a.txt http://example.org/\n</If>\n\
             <If \"-f %{REQUEST_FILENAME}\">\nHeader set File yes\n</If>\n\
             <Files a.txt>\n<If \"%{QUERY_STRING} == 'file'\">\nRequire all denied\n</If>\n</Files>\n",
        );
    server.get("/a.txt?shut").is(403);
    server.get("/a.txt?file").is(403);
    server.get("/a.txt").is(200);
    assert_eq!(server.text("/dir/?other"), "other");
    assert_eq!(server.text("/dir/"), "index");
    assert_eq!(server.text("/a.txt?perl"), "yes conditional");
    assert_eq!(server.get("/a.txt?away").is(302).header("Location").as_deref(), Some("http://example.org/?away"));
    assert_eq!((field(&server, "/a.txt", "File"), field(&server, "/none", "File")), ("yes".to_owned(), String::new()));
}

#[test]
fn an_internal_redirect_does_not_bypass_a_condition() {
    let led = "package Led; sub handler { my $r = shift; $r->internal_redirect('/a.txt'); 0 }\n1;\n";
    let server = Site::new().file("lib/Led.pm", led).file("htdocs/a.txt", "a").serve(
        "PerlLib lib\nPerlModule Led\n<Location /led>\nSetHandler perl-script\nPerlHandler Led\n</Location>\n\
         <If \"%{REQUEST_URI} == '/a.txt' && req('X') == 'y'\">\nRequire all denied\n</If>\n",
    );
    assert_eq!(server.text("/led"), "a");
    server.send(Request::get("/led").header("X", "y")).is(403);
}

#[test]
fn an_htaccess_file_may_have_conditions() {
    let server = Site::new()
        .file("htdocs/own/a.txt", "a")
        .file(
            "htdocs/own/.htaccess",
            "<If \"%{QUERY_STRING} == 'one'\">\nHeader set X one\n</If>\n<Else>\nHeader set X else\n</Else>\n",
        )
        .file("htdocs/own/deep/a.txt", "a")
        .file("htdocs/own/deep/.htaccess", "<If \"req('X') == 'y'\">\nRequire all denied\n</If>\n")
        .file("htdocs/bad/a.txt", "a")
        .file("htdocs/bad/.htaccess", "<If \"file('/etc/passwd') =~ /root/\">\nHeader set X root\n</If>\n")
        .serve("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n");
    assert_eq!(field(&server, "/own/a.txt?one", "X"), "one");
    assert_eq!(field(&server, "/own/deep/a.txt", "X"), "else");
    server.send(Request::get("/own/deep/a.txt").header("X", "y")).is(403);
    server.get("/bad/a.txt").is(500);
}

#[test]
fn rewrite_rules_may_depend_on_a_condition() {
    let server = Site::new()
        .file("htdocs/a.txt", "a")
        .file("htdocs/b.txt", "b")
        .file("htdocs/own/a.txt", "own")
        .file("htdocs/own/.htaccess", "RewriteEngine On\n<If \"req('X') == 'y'\">\nRewriteRule own/a - [F]\n</If>\n")
        .serve(
            "<Directory @DIR@/htdocs>\nAllowOverride All\nRewriteEngine On\nRewriteRule ^moved$ b.txt\n\
             <If \"%{QUERY_STRING} == 'x'\">\nRewriteRule ^@DIR@/htdocs/a\\.txt$ /b.txt\nRewriteRule ^moved$ - [G]\n</If>\n</Directory>\n",
        );
    assert_eq!(server.text("/a.txt"), "a");
    // The pattern sees the whole name of the file.
    assert_eq!(server.text("/a.txt?x"), "b");
    // The rules of the section replace those of the folder.
    assert_eq!(server.text("/moved"), "b");
    server.get("/moved?x").is(404);
    assert_eq!(server.text("/own/a.txt"), "own");
    server.send(Request::get("/own/a.txt").header("X", "y")).is(403);
}

#[test]
fn a_directive_that_cannot_depend_on_a_request_is_refused_with_the_reason() {
    for (line, reason) in [
        ("<Else>\n</Else>", "expected an <If> or <ElseIf> before it"),
        ("<If true>\nListen 1\n</If>", "Listen: is not allowed in <If>"),
        ("<If true>\nRewriteMap a int:tolower\n</If>", "RewriteMap: is not allowed in <If>"),
        ("<If true>\nPerlModule Show\n</If>", "code is loaded at the start"),
        ("<If true>\n<Files a>\n</Files>\n</If>", "write the <If> in this section"),
        ("<If \"%{NONE} == 1\">\n</If>", "the variable %{NONE} does not exist at character 1 of the expression"),
    ] {
        let site = Site::new();
        let site = site.file("site.conf", &format!("Listen 127.0.0.1:8080\n{line}\n"));
        let output = site.cameleer(["check", "-f", "site.conf"]);
        assert!(output.err.contains(reason) || output.out.contains(reason), "{line}: {}{}", output.out, output.err);
    }
}

#[test]
fn explain_shows_the_sections_whose_conditions_hold() {
    let conf = "Listen 127.0.0.1:8080\nDocumentRoot htdocs\n\
                <If \"%{QUERY_STRING} == 'one'\">\nHeader set X one\n</If>\n<Else>\nHeader set X else\n</Else>\n";
    let site = Site::new().file("htdocs/a.txt", "a").file("site.conf", conf);
    let explained = |url: &str| site.cameleer(["explain", "-f", "site.conf", "get", url]).succeeded().out;
    let (one, other) = (explained("/a.txt?one"), explained("/a.txt"));
    assert!(one.contains("<If %{QUERY_STRING} == 'one'>") && one.contains("Header set X one"), "{one}");
    assert!(other.contains("<Else>") && !other.contains("Header set X one"), "{other}");
}
