//! Expressions of httpd 2.4 (expr.html) in directives: questions about files and paths, and limits. More cases are
//! beside httpd, in `tests/beside_httpd/expr`.

use crate::support::{Request, Site, eventually};

#[test]
fn file_functions_and_path_tests_work_in_every_directive_with_an_expression() {
    let server = Site::new()
        .file("htdocs/a.txt", "a")
        .file("htdocs/shut/a.txt", "shut")
        .file("secret.txt", "word")
        .serve(
            "<Location /shut>\nRequire all denied\n</Location>\n\
             <Location /word>\nRequire expr file('@DIR@/secret.txt') == req('Word')\n</Location>\n\
             <Location /nothing>\n<RequireAll>\nRequire not expr file('@DIR@/none') == 'x'\nRequire all granted\n</RequireAll>\n</Location>\n\
             SetEnvIfExpr \"-f '@DIR@/htdocs/a.txt' && ! -U '/shut/a.txt'\" THERE=yes\n\
             Header set Env \"%{THERE}e\"\n\
             Header set Size \"expr=%{filesize:@DIR@/secret.txt}\"\n\
             RequestHeader set X-Asked \"expr=%{filesize:%{REQUEST_FILENAME}}\"\n\
             Header set Asked \"expr=%{req:X-Asked}\"\n\
             Header set Served yes \"expr=-F '@DIR@/htdocs/a.txt'\"\n",
        );
    let answer = server.get("/a.txt").is(200);
    for (name, expected) in [("Env", "yes"), ("Size", "4"), ("Asked", "1"), ("Served", "yes")] {
        assert_eq!(answer.header(name).as_deref(), Some(expected), "{name}");
    }
    server.send(Request::get("/word").header("Word", "word")).is(404);
    server.send(Request::get("/word").header("Word", "other")).is(403);
    server.get("/nothing").is(500);
    server.logged("none: there is no such file");
}

#[test]
fn a_log_takes_the_requests_for_which_its_expression_is_true() {
    let server = Site::new().file("htdocs/a.txt", "a").serve(
        "CustomLog @DIR@/missing.log \"%r\" \"expr=%{REQUEST_STATUS} == 404 && %{REQUEST_URI} =~ m#^/n#\"\n\
         CustomLog @DIR@/all.log \"%r\"\n",
    );
    for target in ["/a.txt", "/none", "/other"] {
        server.get(target);
    }
    let log = |name: &str| server.site.read(name);
    eventually("all requests are logged", || (log("all.log").lines().count() == 3).then_some(()));
    assert_eq!(log("missing.log"), "GET /none HTTP/1.1\n");
}

#[test]
fn an_expression_that_asks_for_too_much_is_stopped() {
    let many: Vec<String> = (0..60).map(|number| format!("-f '/none{number}'")).collect();
    let conf = format!(
        "<Location /many>\nHeader set X yes \"expr=! ({})\"\n</Location>\n\
         <Location /loop>\n<If \"-U '/loop'\">\nHeader set X loop\n</If>\n</Location>\n\
         <Location /blown>\n<If \"'xxxxxxxxxx' =~ /(.+)/{}\">\nHeader set X blown\n</If>\n</Location>\n",
        many.join(" || "),
        " && '$0$0$0$0$0$0$0$0$0$0' =~ /(.+)/".repeat(20)
    );
    let server =
        Site::new().file("htdocs/many", "many").file("htdocs/loop", "loop").file("htdocs/blown", "blown").serve(&conf);
    assert_eq!(server.get("/many").is(200).header("X"), None);
    server.logged("more than 50 files or paths");
    assert_eq!(server.get("/loop").is(200).header("X").as_deref(), Some("loop"));
    server.get("/blown").is(500);
}

#[test]
fn a_program_sees_named_groups_and_credentials_of_the_configuration() {
    let show = "package Show; sub handler { my $r = shift; $r->send_http_header('text/plain');\n\
                $r->print(\"$ENV{MATCH_PART} \" . $r->header_in('Authorization')); 0 }\n1;\n";
    let server = Site::new().file("lib/Show.pm", show).serve(
        "PerlLib lib\nPerlModule Show\n<LocationMatch \"^/show/(?<part>\\w+)\">\nSetHandler perl-script\nPerlHandler Show\n\
         AuthBasicFake \"u-%{QUERY_STRING}\" p\n</LocationMatch>\n",
    );
    // The credentials are those of `u-x:p`.
    assert_eq!(server.text("/show/here?x"), "here Basic dS14OnA=");
}

/// A rule may lead to a place with other variables, or change the query that they depend on.
#[test]
fn the_variables_of_a_place_are_computed_for_the_request_that_a_rule_has_made() {
    let by_file = "SetEnvIfExpr \"-f '/etc/passwd'\" closed\n<RequireAll>\nRequire all granted\nRequire not env closed\n</RequireAll>\n";
    let by_query = by_file.replace("-f '/etc/passwd'", "%{QUERY_STRING} =~ /x=1/");
    let server = Site::new()
        .file("htdocs/f/a.html", "f")
        .file("htdocs/q/a.html", "q")
        .script("cgi/closed.cgi", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nrun'\n")
        .serve(&format!(
            "ScriptAlias /cgi/ @DIR@/cgi/\n<Files closed.cgi>\n{by_file}</Files>\n<Directory @DIR@/htdocs/f>\n{by_file}</Directory>\n\
             <Location /q>\n{by_query}</Location>\nRewriteEngine on\nRewriteRule ^/1$ @DIR@/htdocs/f/a.html\n\
             RewriteRule ^/2$ /f/a.html\nRewriteRule ^/3$ /f/a.html [PT]\nRewriteRule ^/q/a.html$ /q/a.html?x=1 [PT]\n\
             RewriteRule ^/q/b.html$ /q/a.html?x=1\n"
        ));
    for path in ["/f/a.html", "/1", "/2", "/3", "/q/a.html", "/q/a.html?x=1", "/cgi/closed.cgi", "/cgi/closed.cgi/more"]
    {
        assert_eq!(server.get(path).status, 403, "{path}");
    }
}
