//! Places of CGI programs, their handlers by name, and their environment. Each case was tried with httpd 2.4, mod_cgi
//! and mod_perl 2.

use super::{SH, conf};
use crate::support::{Request, Response, Server, Site};

/// A shell script that prints its environment.
const ENV: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nenv\n";

/// Fails the test unless the response has the line `line`.
#[track_caller]
fn has(server: &Server, target: &str, line: &str) {
    let text = server.get(target).text();
    assert!(text.lines().any(|found| found == line), "{target}: {line} is missing in {text}");
}

#[track_caller]
fn lacks(server: &Server, target: &str, word: &str) {
    let text = server.get(target).text();
    assert!(!text.contains(word), "{target}: {word} in {text}");
}

#[test]
fn an_add_handler_below_a_script_alias_wins_and_a_set_handler_wins_over_both() {
    for generation in [1, 2] {
        let (handler, load, print) = match generation {
            1 => (
                "PerlHandler",
                "use Apache ()",
                "$r->send_http_header('text/plain'); $r->print('handled', $r->path_info)",
            ),
            _ => (
                "PerlResponseHandler",
                "use Apache2::RequestRec (); use Apache2::RequestIO ()",
                "$r->content_type('text/plain'); $r->print('handled', $r->path_info)",
            ),
        };
        let program = format!("{SH}printf \"ran$PATH_INFO\"");
        let server = Site::new()
            .script("scripts/test", &program)
            .script("scripts/a.pl", &program)
            .script("scripts/set/a.pl", &program)
            .script("scripts/text/a.pl", &program)
            .script("scripts/unset/test", &program)
            .file("lib/My.pm", &format!("package My; {load}; sub handler {{ my $r = shift; {print}; 0 }} 1;"))
            .serve(&format!(
                "PerlGeneration {generation}\nPerlLib lib\nPerlModule My\n{}\
                 <Location /cgi>\n{handler} My\n</Location>\n\
                 <Location /cgi/set>\nSetHandler cgi-script\n</Location>\n\
                 <Location /cgi/text>\nAddHandler default-handler .pl\n</Location>\n\
                 <Directory @DIR@/scripts/unset>\nSetHandler default-handler\n</Directory>\n\
                 <Location /cgi/unset>\nSetHandler None\n</Location>\n",
                conf("AddHandler perl-script .pl")
            ));
        for (target, expected) in [
            ("/cgi/test", "ran"),
            ("/cgi/test/a.pl", "ran/a.pl"),
            ("/cgi/a.pl", "handled"),
            ("/cgi/a.pl/more", "handled/more"),
            ("/cgi/set/a.pl", "ran"),
            ("/cgi/text/a.pl", program.as_str()),
            ("/cgi/unset/test", "ran"),
        ] {
            assert_eq!(server.text(target), expected, "{target}, generation {generation}");
        }
    }
}

#[test]
fn set_handler_none_lets_add_handler_count_again() {
    let server = Site::new().script("htdocs/a.cgi", &format!("{SH}printf ran")).serve(
        "AddHandler cgi-script .cgi\nOptions +ExecCGI\nSetHandler default-handler\n<Location /a.cgi>\nSetHandler None\n</Location>\n",
    );
    assert_eq!(server.text("/a.cgi"), "ran");
}

#[test]
fn a_program_finds_the_alias_that_its_path_has_passed() {
    let site = Site::new().script("scripts/test", ENV).script("htdocs/own", ENV);
    let server = site.serve(&format!(
        "{}ScriptAlias /one @DIR@/scripts/test\nScriptAliasMatch ^/match/(.*) @DIR@/scripts/$1\n\
         RewriteEngine On\nRewriteRule ^/rewritten @DIR@/scripts/test\n\
         <Location /rewritten>\nSetHandler cgi-script\nOptions +ExecCGI\n</Location>\n\
         <Location /own>\nSetHandler cgi-script\nOptions +ExecCGI\n</Location>\n",
        conf("")
    ));
    for (target, prefix, root) in [
        ("/cgi/test", "/cgi/", "@DIR@/scripts/"),
        ("/cgi/test/more", "/cgi/", "@DIR@/scripts/"),
        ("/one/more", "/one", "@DIR@/scripts/test"),
        ("/match/test", "", "@DIR@/htdocs"),
        ("/rewritten", "", "@DIR@/htdocs"),
        ("/own", "", "@DIR@/htdocs"),
    ] {
        has(&server, target, &format!("CONTEXT_PREFIX={prefix}"));
        has(&server, target, &server.site.filled(&format!("CONTEXT_DOCUMENT_ROOT={root}")));
    }
}

#[test]
fn scripts_in_the_worker_find_the_alias_too() {
    let text =
        "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{CONTEXT_PREFIX} $ENV{CONTEXT_DOCUMENT_ROOT}\";";
    for generation in [1, 2] {
        for mode in ["fork", "persistent"] {
            let server = Site::new()
                .script("scripts/test", text)
                .serve(&format!("PerlGeneration {generation}\n{}", conf(&format!("CgiMode {mode}"))));
            assert_eq!(server.text("/cgi/test"), server.site.filled("/cgi/ @DIR@/scripts/"), "{mode} {generation}");
        }
    }
}

#[test]
fn a_cgi_program_after_an_internal_redirect_gets_redirect_variables_and_no_mod_perl() {
    for generation in [1, 2] {
        let (handler, load, lead) = match generation {
            1 => ("PerlHandler", "use Apache ()", "$r->internal_redirect('/cgi/env')"),
            _ => (
                "PerlResponseHandler",
                "use Apache2::RequestRec (); use Apache2::SubRequest ()",
                "$r->internal_redirect('/cgi/env')",
            ),
        };
        let server = Site::new()
            .script("scripts/env", ENV)
            .script("scripts/broken", "#!/bin/sh\nexit 3\n")
            .script("scripts/on", "#!/bin/sh\nprintf 'Location: /cgi/env\\n\\n'\n")
            .file(
                "lib/My.pm",
                &format!("package My; {load}; sub handler {{ my $r = shift; return 404 if $r->args; {lead}; 0 }} 1;"),
            )
            .serve(&format!(
                "PerlGeneration {generation}\nPerlLib lib\nPerlModule My\nErrorDocument 404 /cgi/env\nErrorDocument 500 /cgi/env\n{}\
                 <Location /my>\nSetHandler perl-script\n{handler} My\n</Location>\n",
                conf("")
            ));
        for target in ["/my", "/my?404", "/cgi/broken", "/cgi/on", "/cgi/none"] {
            lacks(&server, target, "MOD_PERL");
            has(&server, target, &format!("REDIRECT_URL={}", target.split('?').next().unwrap_or_default()));
        }
        lacks(&server, "/cgi/broken", "CGI-Perl");
        for target in ["/my?404", "/cgi/none", "/cgi/broken", "/none"] {
            has(&server, target, "REDIRECT_REQUEST_METHOD=GET");
            let posted = server.post(target, "a=b").text();
            assert!(posted.lines().any(|line| line == "REDIRECT_REQUEST_METHOD=POST"), "{target}: {posted}");
            assert!(posted.lines().any(|line| line == "REQUEST_METHOD=GET"), "{target}: {posted}");
        }
        has(&server, "/cgi/broken", "REDIRECT_SCRIPT_NAME=/cgi/broken");
        has(&server, "/cgi/broken", "REDIRECT_GATEWAY_INTERFACE=CGI/1.1");
        has(&server, "/cgi/broken", "REDIRECT_CONTEXT_PREFIX=/cgi/");
        let text = server.get("/cgi/broken").is(500).text();
        assert!(
            text.lines().any(|line| line.starts_with("REDIRECT_ERROR_NOTES=") && line.ends_with("broken")),
            "{text}"
        );
    }
}

#[test]
fn the_rest_of_a_path_follows_the_name_of_its_alias_directly() {
    let program = format!("{SH}printf \"ran $PATH_INFO\"");
    let site = Site::new().script("bin/one", &program).file("files/page.txt", "page").file("folder/page.txt", "page");
    let aliases = "Alias /five/ @DIR@/files/page.txt\nScriptAlias /one/ @DIR@/bin/one\nScriptAlias /same @DIR@/bin/one\n\
         Alias /folder/ @DIR@/folder\nAlias /both/ @DIR@/folder/\nAlias /neither @DIR@/folder\n";
    site.configure(aliases);
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let warnings: Vec<_> = output.err.lines().filter(|line| line.contains("ends with a slash and")).collect();
    assert_eq!(warnings.len(), 3, "{output:?}");
    assert!(warnings.iter().all(|line| line.contains("end both with one, or neither")), "{warnings:?}");
    let server = site.serve(aliases);
    for (target, status, text) in [
        ("/five/", 200, "page"),
        ("/five/a", 404, ""),
        ("/one/", 200, "ran "),
        ("/one/x", 404, ""),
        ("/same/x", 200, "ran /x"),
        ("/folder/page.txt", 404, ""),
        ("/both/page.txt", 200, "page"),
        ("/neither/page.txt", 200, "page"),
    ] {
        let response = server.get(target).is(status);
        if status == 200 {
            assert_eq!(response.text(), text, "{target}");
        }
    }
}

#[test]
fn a_folder_below_a_script_alias_has_its_slash_and_its_index() {
    for mode in ["program", "fork", "persistent"] {
        let perl =
            "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\nindex $ENV{SCRIPT_NAME} $ENV{QUERY_STRING}\";";
        let server = Site::new()
            .script("scripts/index.pl", perl)
            .script("scripts/with/index.pl", perl)
            .script("scripts/without/other.pl", perl)
            .serve(&conf(&format!("CgiMode {mode}\nDirectoryIndex index.pl\nOptions +Indexes")));
        assert_eq!(server.text("/cgi/?a"), "index /cgi/index.pl a", "{mode}");
        assert_eq!(server.text("/cgi/with/"), "index /cgi/with/index.pl ", "{mode}");
        let moved = server.get("/cgi/with?a").is(301);
        assert!(moved.header("location").is_some_and(|to| to.ends_with("/cgi/with/?a")), "{mode}");
        server.get("/cgi/without/").is(403);
    }
}

#[test]
fn an_error_document_knows_the_method_of_a_request_whose_handler_has_no_environment() {
    let server = Site::new()
        .script("scripts/env", ENV)
        .file("lib/My.pm", "package My; use Apache2::RequestRec (); sub handler { 404 } 1;")
        .serve(&format!(
            "PerlGeneration 2\nPerlLib lib\nPerlModule My\nErrorDocument 404 /cgi/env\n{}\
             <Location /my>\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n",
            conf("")
        ));
    has(&server, "/my", "REDIRECT_REQUEST_METHOD=GET");
    for method in ["POST", "DELETE"] {
        let text = server.send(Request::new(method, "/my")).is(404).text();
        assert!(text.lines().any(|line| line == format!("REDIRECT_REQUEST_METHOD={method}")), "{text}");
    }
}

#[test]
fn a_location_without_a_status_is_a_redirect_with_the_servers_page() {
    let print = |header: &str| format!("#!/bin/sh\nprintf '{header}\\n\\nown page'\n");
    for mode in ["program", "fork"] {
        let server = Site::new()
            .script("scripts/away", &print("Location: http://example.org/x?a=b&c=<d>\\nContent-Type: text/x-own"))
            .script("scripts/relative", &print("Location: page.html"))
            .script("scripts/above", &print("Location: ../page.html?x=1"))
            .script("scripts/query", &print("Location: ?a=b"))
            .script("scripts/fields", &print("Set-Cookie: a=b\\nX-Own: own\\nLocation: http://example.org/x"))
            .script("scripts/said", &print("Status: 302 Found\\nLocation: page.html\\nContent-Type: text/x-own"))
            .script(
                "scripts/moved",
                &print("Status: 301 Moved\\nLocation: http://example.org/x\\nContent-Type: text/x-own"),
            )
            .serve(&conf(&format!("CgiMode {mode}")));
        for (name, location, link) in [
            ("away", "http://example.org/x?a=b&c=<d>", "href=\"http://example.org/x?a=b&amp;c=&lt;d&gt;\""),
            ("relative", "page.html", "href=\"page.html\""),
            ("above", "../page.html?x=1", "href=\"../page.html?x=1\""),
            ("query", "?a=b", "href=\"?a=b\""),
            ("fields", "http://example.org/x", "href=\"http://example.org/x\""),
        ] {
            let response = server.get(&format!("/cgi/{name}")).is(302);
            assert_eq!(response.header("location").as_deref(), Some(location), "{mode} {name}");
            assert!(response.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{mode} {name}");
            let text = response.text();
            assert!(text.contains(link) && !text.contains("own page"), "{mode} {name}: {text}");
        }
        let fields = server.get("/cgi/fields");
        let names = ["set-cookie", "x-own"].map(|name| fields.header(name));
        assert_eq!(names, [Some("a=b".to_owned()), Some("own".to_owned())], "{mode}");
        for (name, status) in [("said", 302), ("moved", 301)] {
            let response = server.get(&format!("/cgi/{name}")).is(status);
            assert_eq!(
                (response.header("content-type").as_deref(), response.text().as_str()),
                (Some("text/x-own"), "own page")
            );
        }
        let head = server.send(Request::new("HEAD", "/cgi/away")).is(302);
        assert!(head.body.is_empty() && head.header("location").is_some());
    }
}

#[test]
fn a_form_sent_to_a_folder_comes_to_the_program_that_is_its_index() {
    for mode in ["program", "fork", "persistent"] {
        let echo = "#!/usr/bin/perl\nlocal $/; my $b = <STDIN>; print \"Content-Type: text/plain\\n\\n$ENV{REQUEST_METHOD} $ENV{SCRIPT_NAME} $ENV{CONTENT_LENGTH} $b\";";
        let site = Site::new()
            .script("scripts/index.pl", echo)
            .script("scripts/with/index.pl", echo)
            .script("htdocs/folder/index.cgi", echo);
        let server = site.serve(&format!(
            "{}DirectoryIndex index.pl index.cgi\nAddHandler cgi-script .cgi\nOptions +ExecCGI\n",
            conf(&format!("CgiMode {mode}"))
        ));
        for (folder, script) in
            [("/cgi/", "/cgi/index.pl"), ("/cgi/with/", "/cgi/with/index.pl"), ("/folder/", "/folder/index.cgi")]
        {
            assert_eq!(server.post(folder, "a=b").is(200).text(), format!("POST {script} 3 a=b"), "{mode}");
            let large = "x".repeat(300_000);
            let body = server.send(Request::new("PUT", folder).body(large.as_bytes())).is(200).text();
            assert_eq!(body, format!("PUT {script} 300000 {large}"), "{mode}");
        }
    }
}

/// The values of a header, in their order.
fn values(response: &Response, name: &str) -> Vec<String> {
    response.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone()).collect()
}

#[test]
fn the_fields_beside_a_local_redirect_come_with_the_response_that_it_leads_to() {
    let print = |fields: &str| format!("#!/bin/sh\nprintf '{fields}\\n\\n'\n");
    for mode in ["program", "fork", "persistent"] {
        let to = "Set-Cookie: a=1\\nSet-Cookie: b=2\\nX-One: first\\nContent-Type: text/x-own\\nETag: \"own\"\\nContent-Length: 3\\nLocation: ";
        let server = Site::new()
            .script("scripts/file", &print(&format!("{to}/page.txt")))
            .script("scripts/program", &print(&format!("{to}/cgi/there")))
            .script("scripts/chain", &print("Set-Cookie: d=4\\nX-One: chain\\nLocation: /cgi/program"))
            .script("scripts/none", &print(&format!("{to}/none")))
            .script("scripts/there", &print("Content-Type: text/plain\\nSet-Cookie: c=3\\nX-One: second"))
            .file("htdocs/page.txt", "page")
            .serve(&format!("{}CacheEnable memory /\n", conf(&format!("CgiMode {mode}"))));
        for (name, status, cookies, one, kind) in [
            ("file", 200, &["a=1", "b=2"][..], "first", "text/plain"),
            ("program", 200, &["a=1", "b=2", "c=3"], "first, second", "text/plain"),
            ("chain", 200, &["d=4", "a=1", "b=2", "c=3"], "chain, first, second", "text/plain"),
            ("none", 404, &["a=1", "b=2"], "first", "text/html; charset=utf-8"),
        ] {
            let response = server.get(&format!("/cgi/{name}")).is(status);
            assert_eq!(values(&response, "set-cookie"), cookies, "{mode} {name}");
            assert_eq!(values(&response, "x-one"), [one], "{mode} {name}");
            assert_eq!(response.header("content-type").as_deref(), Some(kind), "{mode} {name}");
            assert_ne!(response.header("etag").as_deref(), Some("\"own\""), "{mode} {name}");
        }
        // The next request for the same page has nothing of them.
        let page = server.get("/page.txt").is(200);
        assert_eq!((page.header("set-cookie"), page.header("x-one"), page.text().as_str()), (None, None, "page"));
    }
}

#[test]
fn the_program_of_an_error_document_has_the_errors_status_unless_it_says_another() {
    let print = |fields: &str| format!("#!/bin/sh\nprintf '{fields}\\n\\nown'\n");
    for mode in ["program", "fork", "persistent"] {
        let places: String = ["plain", "ok", "other", "away", "local", "silent"]
            .iter()
            .map(|name| format!("<Location /{name}>\nErrorDocument 404 /cgi/{name}\n</Location>\n"))
            .collect();
        let server = Site::new()
            .script("scripts/plain", &print("Content-Type: text/plain"))
            .script("scripts/ok", &print("Status: 200 OK\\nContent-Type: text/plain"))
            .script("scripts/other", &print("Status: 410\\nContent-Type: text/plain"))
            .script("scripts/away", &print("Location: http://example.org/x"))
            .script("scripts/local", &print("Location: /page.txt"))
            .script("scripts/silent", "#!/bin/sh\nexit 3\n")
            .file("htdocs/page.txt", "page")
            .serve(&format!("{}{places}", conf(&format!("CgiMode {mode}"))));
        for (name, status, location) in [
            ("plain", 404, None),
            ("ok", 200, None),
            ("other", 410, None),
            ("away", 404, Some("http://example.org/x")),
            ("local", 404, Some("/page.txt")),
        ] {
            let response = server.get(&format!("/{name}/x")).is(status);
            assert_eq!(response.text(), "own", "{mode} {name}");
            assert_eq!(response.header("location").as_deref(), location, "{mode} {name}");
        }
        let silent = server.get("/silent/x").is(404).text();
        assert!(silent.contains("<h1>Not Found</h1>"), "{mode}: {silent}");
        // Asked for by itself, the program has no error's status.
        server.get("/cgi/plain").is(200);
    }
}

#[test]
fn a_form_sent_to_a_folder_that_perl_has_looked_at_comes_to_the_program_that_is_its_index() {
    let echo = "#!/usr/bin/perl\nlocal $/; my $b = <STDIN>; print \"Content-Type: text/plain\\n\\n$ENV{REQUEST_METHOD} $ENV{SCRIPT_NAME} $ENV{CONTENT_LENGTH} $b\";";
    let look = "package My; use Apache (); sub handler { my $r = shift; read STDIN, my $b, 2 if $r->args && $r->uri =~ m{/$}; 0 } 1;";
    for mode in ["program", "fork", "persistent"] {
        let server = Site::new()
            .script("scripts/index.pl", echo)
            .script("scripts/with/index.pl", echo)
            .script("htdocs/folder/index.cgi", echo)
            .file("htdocs/on/page.txt", "page")
            .file("lib/My.pm", look)
            .serve(&format!(
                "PerlLib lib\nPerlModule My\n<Location />\nPerlFixupHandler My\n</Location>\n\
                 {}DirectoryIndex index.pl index.cgi /cgi/index.pl\nAddHandler cgi-script .cgi\nOptions +ExecCGI\n",
                conf(&format!("CgiMode {mode}"))
            ));
        for (folder, script) in [
            ("/cgi/", "/cgi/index.pl"),
            ("/cgi/with/", "/cgi/with/index.pl"),
            ("/folder/", "/folder/index.cgi"),
            ("/on/", "/cgi/index.pl"),
        ] {
            assert_eq!(server.post(folder, "a=b").is(200).text(), format!("POST {script} 3 a=b"), "{mode}");
            let large = "x".repeat(300_000);
            let body = server.send(Request::new("PUT", folder).body(large.as_bytes())).is(200).text();
            assert_eq!(body, format!("PUT {script} 300000 {large}"), "{mode} {folder}");
            // The index finds the whole body, although the handler has read a part of it.
            let body =
                server.send(Request::new("PUT", &format!("{folder}?read")).body(large.as_bytes())).is(200).text();
            assert!(body.ends_with(&format!(" 300000 {large}")), "{mode} {folder}: {}", body.len());
        }
        assert!(server.get("/cgi/").is(200).text().starts_with("GET /cgi/index.pl"));
    }
}

#[test]
fn a_program_that_prints_no_content_type_gets_that_of_its_name_or_none() {
    let print = |fields: &str| format!("#!/usr/bin/perl\nprint \"{fields}\\n\\nbody\";");
    for mode in ["program", "fork"] {
        let site = Site::new()
            .script("scripts/none", &print("Status: 200 OK"))
            .script("scripts/named.txt", &print("X-One: first"))
            .script("scripts/found", &print("Status: 302 Found\\nLocation: http://example.org/"));
        let lines = conf(&format!("CgiMode {mode}"));
        let typed = |server: &Server, name: &str, status: u16| {
            server.get(&format!("/cgi/{name}")).is(status).header("content-type")
        };
        let server = site.serve(&lines);
        for (name, status, kind) in [("none", 200, None), ("named.txt", 200, Some("text/plain")), ("found", 302, None)]
        {
            assert_eq!(typed(&server, name, status).as_deref(), kind, "{mode} {name}");
        }
        let server = Site::new()
            .script("scripts/none", &print("Status: 200 OK"))
            .serve(&format!("DefaultType text/x-default\n{lines}"));
        assert_eq!(typed(&server, "none", 200).as_deref(), Some("text/x-default"), "{mode}");
    }
}

#[test]
fn the_values_of_a_header_that_a_program_repeats_come_in_one_line_except_for_cookies() {
    let print = "print \"X-One: a\\nSet-Cookie: a=1\\nX-One: b\\nSet-Cookie: b=2\\nContent-Type: text/plain\\nX-Two: c\\n\\n\";";
    for generation in [1, 2] {
        for mode in ["program", "fork"] {
            let server = Site::new()
                .script("scripts/test", &format!("#!/usr/bin/perl\n{print}"))
                .serve(&format!("PerlGeneration {generation}\n{}", conf(&format!("CgiMode {mode}"))));
            let response = server.get("/cgi/test").is(200);
            let found = ["x-one", "set-cookie", "x-two"].map(|name| values(&response, name));
            assert_eq!(found, [vec!["a, b"], vec!["a=1", "b=2"], vec!["c"]], "{mode} {generation}");
        }
    }
}
