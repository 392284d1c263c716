//! Debian's HTML::Mason, unmodified: components of tests/apps/packaged/site/mason under its mod_perl 1 handler and as a
//! CGI program.

use std::collections::BTreeSet;
use std::fs::rename;
use std::process::Command;

use super::browser;
use crate::support::{Finished, Load, Request, Server, Site, until};

/// Requests to the pages: target, expected status, and texts that the response must contain.
const PAGES: &[(&str, u16, &[&str])] = &[
    (
        "/mason/index.html",
        200,
        &[
            "<title>Arguments &lt;&amp;&gt;</title>",
            "<h1>Hello, world.</h1>",
            "isa=Apache method=GET",
            "<li>café</li>",
            "<b>QUIET WORDS</b>",
            "<p>footer of /index.html</p>",
        ],
    ),
    (
        "/mason/index.html?name=%3Cb%3E+x&words=a&words=b%26&pairs=k&pairs=v",
        200,
        &["<h1>Hello, &lt;b&gt; x.</h1>", "words=a+b&amp; pairs=k:v"],
    ),
    ("/mason/parts/a/b%20c", 200, &["class=\"part\"", "dhandler=a/b c path=/mason/parts/a/b"]),
    ("/mason/created.html", 201, &["made"]),
    ("/mason/created.html?no=1", 403, &["You may not see this page."]),
    ("/mason/none.html", 404, &["There is no page at this address."]),
    ("/mason/die.html", 200, &["System error", "on purpose"]),
    ("/mason/syntax.html", 200, &["System error", "syntax error at"]),
    ("/cgi/mason.pl/page.html?name=Ana+%3Ci%3E", 200, &["Hello, Ana &lt;i&gt;."]),
];

#[track_caller]
fn serve(settings: &str) -> Server {
    let site = Site::new();
    let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site/mason");
    Finished::of(Command::new("cp").args(["-R", ours]).arg(site.path("mason"))).succeeded();
    site.serve(&format!(
        r#"
        PerlModule CGI HTML::Mason::ApacheHandler HTML::Mason::CGIHandler
        PerlSetEnv MASON_ROOT "@DIR@/mason"
        PerlSetVar MasonDataDir "@DIR@/mason/data"
        Alias /mason/ "@DIR@/mason/comp/"
        <Location /mason>
            SetHandler perl-script
            PerlHandler HTML::Mason::ApacheHandler
            PerlSetVar MasonCompRoot "@DIR@/mason/comp"
            {settings}
        </Location>
        ScriptAlias /cgi/ "@DIR@/mason/cgi/"
        "#
    ))
}

#[track_caller]
fn every_page_answers(server: &Server) {
    for round in 1..=2 {
        for (target, status, parts) in PAGES {
            let response = server.get(target).is(*status);
            for part in *parts {
                assert!(response.text().contains(part), "round {round} {target}: no {part:?} in {response:?}");
            }
        }
    }
    let moved = server.get("/mason/redirect.html?name=x").is(302);
    assert_eq!(moved.header("location").as_deref(), Some("/mason/index.html?name=x"));
    let moved = server.get("/cgi/mason.pl/away.html").is(302);
    assert_eq!(moved.header("location").as_deref(), Some("http://localhost/elsewhere"));
    assert_eq!(server.get("/cgi/mason.pl/page.html").header("x-by").as_deref(), Some("CGIHandler"));
    let posted = server.post("/mason/index.html", "name=Ana&words=x&words=y").is(200);
    assert!(posted.text().contains("Hello, Ana.") && posted.text().contains("words=x+y"), "{posted:?}");
}

#[test]
fn mason_with_arguments_by_cgi_pm() {
    let server = serve("PerlSetVar MasonArgsMethod CGI");
    every_page_answers(&server);
    let body = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\r\n\
        Content-Type: text/plain\r\n\r\n0123456789\r\n--b--\r\n";
    let upload = Request::new("POST", "/mason/upload.html").header("Content-Type", "multipart/form-data; boundary=b");
    let text = server.send(upload.body(body)).is(200).text();
    assert!(text.contains("name=a b.txt length=10"), "{text}");
}

#[test]
fn mason_with_arguments_by_apache_request() {
    every_page_answers(&serve("PerlSetVar MasonArgsMethod mod_perl"));
}

#[test]
fn masons_errors_may_be_the_servers() {
    let server = serve("PerlSetVar MasonErrorMode fatal");
    let response = server.get("/mason/die.html").is(500);
    assert!(!response.text().contains("on purpose"), "{response:?}");
    server.logged("on purpose");
    server.get("/mason/index.html").is(200);
}

#[test]
fn masons_cache_is_one_for_all_workers_and_outlives_a_reload() {
    let server = serve("");
    let made = server.text("/mason/cached.html");
    assert!(server.site.has("mason/data/obj") && server.site.has("mason/data/cache"), "{made}");
    let others = Load::start(&server, 3, "/mason/index.html", |response| response.text().contains("footer of"));
    let mut workers = BTreeSet::new();
    let mut ask = |count| {
        until("every worker has answered", || {
            let response = server.get("/mason/cached.html").is(200);
            assert_eq!(response.text(), made);
            workers.insert(response.header("x-worker"));
            workers.len() >= count
        });
    };
    ask(2);
    server.reload().succeeded();
    ask(4);
    assert_eq!(others.failures(), Vec::<String>::new());
}

#[test]
fn a_changed_component_is_seen_by_every_worker_under_load() {
    let server = serve("");
    let load = Load::start(&server, 3, "/mason/parts/x", |response| response.text().contains("dhandler="));
    load.until_answered(10);
    // Mason compares whole seconds: a file from the second of its first compilation does not count as newer.
    until("the new component is seen", || {
        server.site.write("mason/next", "dhandler=new");
        rename(server.site.path("mason/next"), server.site.path("mason/comp/parts/dhandler")).expect("one folder");
        server.text("/mason/parts/x").contains("dhandler=new")
    });
    for _ in 0..20 {
        let body = server.text("/mason/parts/x");
        assert!(body.contains("dhandler=new"), "{body}");
    }
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn a_browser_sends_a_form_to_a_component_and_shows_its_page() {
    let server = serve("PerlSetVar MasonArgsMethod mod_perl");
    let form = "<form action=\"/mason/index.html\" method=\"post\"><input name=\"name\"><input name=\"words\" value=\"a b\">\
        <input name=\"words\" value=\"c&amp;d\"><button>Send</button></form>";
    server.site.write("htdocs/form.html", &format!("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n{form}"));
    let visit = browser::visitor(
        "/form.html",
        &[
            "page.querySelector('[name=name]').value = 'Ana <i> &amp;'; page.querySelector('button').click();",
            "show(page.contentType + ' ' + page.characterSet); show(page.title); show(page.querySelector('h1').textContent); \
             for (const p of page.querySelectorAll('p')) show(p.textContent);",
        ],
    );
    server.site.write("htdocs/visit.html", &visit);
    let page = browser::shows(&server, "/visit.html");
    for line in [
        "text/html UTF-8",
        "Arguments &lt;&amp;&gt;",
        "Hello, Ana &lt;i&gt; &amp;amp;.",
        "words=a b+c&amp;d",
        "footer of /index.html",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
}

#[test]
fn a_component_that_prints_without_end_ends_with_its_client() {
    for settings in ["", "PerlSetVar MasonErrorMode fatal"] {
        let server = serve(settings);
        let mut connection = server.connect();
        connection.raw("GET /mason/endless.html HTTP/1.1\r\nHost: localhost\r\n\r\n");
        connection.head();
        assert!(!connection.chunk().is_empty());
        drop(connection);
        until("no worker is at work", || server.workers().iter().all(|(_, state)| state == "Idle"));
    }
}
