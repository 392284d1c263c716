//! Requests that `ProxyPass`, a rule or a handler passes to an application. The variables are those that Debian's
//! Apache sends for the same configuration.

use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use super::application::{end, output, read, record};
use super::{Application, DUMP, Program, listening, variable};
use crate::support::{Request, Server, Site};

/// A server beside the program that answers with its variables.
fn beside_dump(conf: &str) -> (Server, Program) {
    let site = Site::new().file("dump.pl", DUMP).file("htdocs/x.php", "secret").file("htdocs/sub/y.php", "secret");
    let socket = site.path("dump.sock");
    let program = Program::start(Command::new("perl").arg(site.path("dump.pl")).arg(&socket));
    listening(&socket);
    (site.serve(conf), program)
}

const BACKEND: &str = "unix:@DIR@/dump.sock|fcgi://localhost";

#[test]
fn an_application_gets_the_variables_that_httpd_sends() {
    let conf = format!(
        "SetEnv MINE yes\n<FilesMatch \"\\.php$\">\nSetHandler \"proxy:{BACKEND}\"\n</FilesMatch>\nDirectoryIndex x.php\n\
         SetEnvIf Request_URI ^/g/ proxy-fcgi-pathinfo=1\nSetEnvIf Request_URI ^/fd/ proxy-fcgi-pathinfo=first-dot\n\
         SetEnvIf Request_URI ^/ld/ proxy-fcgi-pathinfo=last-dot\nSetEnvIf Request_URI ^/full/ proxy-fcgi-pathinfo=full\n\
         ProxyPass /x/ \"{BACKEND}/\"\nProxyPass /y/ \"{BACKEND}/srv/www/\"\nProxyPassMatch ^/m/(.*\\.php(/.*)?)$ \"{BACKEND}/srv/www/$1\"\n\
         ProxyPass /g/ \"{BACKEND}/srv/www/\"\nProxyPass /fd/ \"{BACKEND}/srv/www/\"\nProxyPass /ld/ \"{BACKEND}/srv/www/\"\n\
         ProxyPass /full/ \"{BACKEND}@DIR@/htdocs/\"\n\
         <Location /gen>\nProxyFCGIBackendType GENERIC\nProxyPass \"{BACKEND}/srv/www\"\n</Location>\n\
         RewriteEngine on\nRewriteRule ^/rw/(.*)$ \"{BACKEND}/srv/www/$1\" [P]\n"
    );
    let (server, _program) = beside_dump(&conf);
    let fpm = "proxy:fcgi://localhost";
    let root = server.site.filled("@DIR@/htdocs");
    let here = |path: &str| format!("{root}{path}");
    for (target, name, file, info, query) in [
        ("/x.php?a=b", "/x.php", format!("{fpm}{root}/x.php"), "-", "a=b"),
        ("/x.php/more/info?q", "/x.php", format!("{fpm}{root}/x.php"), "/more/info", "q"),
        ("/", "/x.php", format!("{fpm}{root}/x.php"), "-", ""),
        ("/sub/y.php", "/sub/y.php", format!("{fpm}{root}/sub/y.php"), "-", ""),
        ("/missing.php", "/missing.php", format!("{fpm}{root}/missing.php"), "-", ""),
        ("/x/a.pl/p%20q?z=1", "/x/a.pl/p q", format!("{fpm}/a.pl/p%20q"), "-", "z=1"),
        ("/y/a.pl/p", "/y/a.pl/p", format!("{fpm}/srv/www/a.pl/p"), "-", ""),
        ("/m/z.php/e?r", "/m/z.php/e", format!("{fpm}/srv/www/z.php/e"), "-", "r"),
        ("/g/a.php/b", "/g", format!("{fpm}/srv/www/a.php/b"), "/srv/www/a.php/b", ""),
        ("/fd/a.php/b", "/fd/a.php", format!("{fpm}/srv/www/a.php/b"), "/b", ""),
        ("/ld/a.php/b.c/d", "/ld/a.php/b.c", format!("{fpm}/srv/www/a.php/b.c/d"), "/d", ""),
        ("/full/x.php/b", "/full/x.php", here("/x.php"), "/b", ""),
        ("/gen/a.php/b?q=1", "/gen/a.php/b", "/srv/www/a.php/b".to_owned(), "-", "q=1"),
        ("/rw/q.php?s", "/rw/q.php", format!("{fpm}/srv/www/q.php"), "-", "s"),
    ] {
        let answer = server.text(target);
        let got = |name| variable(&answer, name);
        assert_eq!(got("SCRIPT_NAME"), name, "{target}\n{answer}");
        assert_eq!(got("SCRIPT_FILENAME"), file, "{target}\n{answer}");
        assert_eq!(got("PATH_INFO"), info, "{target}\n{answer}");
        let translated = if info == "-" { "-".to_owned() } else { here(info) };
        assert_eq!(got("PATH_TRANSLATED"), translated, "{target}\n{answer}");
        assert_eq!((got("QUERY_STRING"), got("REQUEST_URI")), (query, target), "{answer}");
        assert_eq!((got("MINE"), got("DOCUMENT_ROOT")), ("yes", &*root), "{answer}");
        assert_eq!((got("GATEWAY_INTERFACE"), got("FCGI_ROLE")), ("CGI/1.1", "RESPONDER"), "{answer}");
        assert_eq!((got("REMOTE_ADDR"), got("SERVER_PROTOCOL")), ("127.0.0.1", "HTTP/1.1"), "{answer}");
        assert_eq!((got("REQUEST_METHOD"), got("SERVER_PORT")), ("GET", &*server.site.port.to_string()), "{answer}");
    }
}

#[test]
fn fields_become_variables_but_those_that_could_deceive() {
    let (server, _program) = beside_dump(&format!("ProxyPass / \"{BACKEND}/\"\n"));
    let request = Request::get("/x")
        .header("X-One", "1")
        .header("X-One", "2")
        .header("Cookie", "a=b")
        .header("Proxy", "evil")
        .header("X_One", "evil")
        .header("Authorization", "Basic eTp6");
    let answer = server.send(request).is(200).text();
    assert_eq!(variable(&answer, "HTTP_X_ONE"), "1, 2");
    assert_eq!(variable(&answer, "HTTP_COOKIE"), "a=b");
    for name in ["HTTP_PROXY", "HTTP_AUTHORIZATION"] {
        assert_eq!(variable(&answer, name), "-");
    }
}

#[test]
fn rules_change_the_variables_last() {
    let (server, _program) = beside_dump(&format!(
        "SetEnv MINE yes\nProxyFCGISetEnvIf \"%{{reqenv:SCRIPT_NAME}} =~ m#/foo(.)#\" EXTRA \"got $1\"\nProxyFCGISetEnvIf true !MINE\n\
         ProxyFCGISetEnvIf true SCRIPT_FILENAME /elsewhere\nProxyPass / \"{BACKEND}/\"\n"
    ));
    let answer = server.text("/foo7");
    assert_eq!(variable(&answer, "EXTRA"), "got 7", "{answer}");
    assert_eq!(variable(&answer, "MINE"), "-");
    assert_eq!(variable(&answer, "SCRIPT_FILENAME"), "/elsewhere");
}

#[test]
fn bodies_arrive_with_their_length_also_if_the_client_names_none() {
    let (server, _program) = beside_dump(&format!("ProxyPass / \"{BACKEND}/\"\n"));
    for length in [0, 1, 70_000, 3_000_000] {
        let answer = server.post("/x", &"x".repeat(length)).is(200).text();
        assert_eq!(variable(&answer, "CONTENT_LENGTH"), length.to_string());
        assert_eq!(variable(&answer, "body"), length.to_string());
        let mut client = server.connect();
        client.raw("POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
        if length > 0 {
            client.raw(format!("{length:x}\r\n{}\r\n", "x".repeat(length)));
        }
        client.raw("0\r\n\r\n");
        let answer = client.response().is(200).text();
        assert_eq!(variable(&answer, "body"), length.to_string(), "chunked");
    }
}

#[test]
fn a_response_begins_with_its_head_as_that_of_a_cgi_program() {
    let application = Application::new(|request| {
        let request = String::from_utf8_lossy(request);
        let has_query = |what: &str| request.contains(&format!("QUERY_STRING{what}"));
        output(match () {
            () if has_query("status") => b"Status: 404 Nope\nContent-Type: text/plain\n\nbody",
            () if has_query("remote") => b"Location: http://else.example/\r\n\r\nmoved",
            () if has_query("local") => b"Location: /plain.txt?x\r\n\r\nnever seen",
            () if has_query("seeother") => b"Status: 303\nLocation: /plain.txt\n\n",
            () if has_query("none") => b"Status: 304\nETag: \"x\"\n\nnever seen",
            () if has_query("hop") => {
                b"Connection: close, X-Hop\nX-Hop: 1\nKeep-Alive: a\nTransfer-Encoding: chunked\nX: y\n\nbody"
            }
            () if has_query("long") => b"Content-Length: 4\nX: y\n\nbody and more",
            () => b"X: y\n\nbody",
        })
    });
    let server =
        Site::new().file("htdocs/plain.txt", "a file").serve(&format!("ProxyPass /a {}\n", application.url("/a")));
    let get = |query: &str| server.get(&format!("/a?{query}"));
    assert_eq!((get("status").status, get("status").text().as_str()), (404, "body"));
    let moved = get("remote");
    assert_eq!((moved.status, moved.header("Location").as_deref()), (302, Some("http://else.example/")));
    assert_eq!((get("local").status, get("local").text().as_str()), (200, "a file"));
    assert_eq!((get("seeother").status, get("seeother").header("Location").as_deref()), (303, Some("/plain.txt")));
    assert_eq!((get("none").status, get("none").text().as_str()), (304, ""));
    let plain = get("hop");
    assert_eq!((plain.text().as_str(), plain.header("X").as_deref()), ("body", Some("y")));
    assert_eq!((plain.header("X-Hop"), plain.header("Keep-Alive")), (None, None));
    assert_eq!((get("long").text().as_str(), get("long").header("Content-Length").as_deref()), ("body", Some("4")));
    let head = server.send(Request::new("HEAD", "/a?long")).is(200);
    assert_eq!(head.header("Content-Length").as_deref(), Some("4"));
}

#[test]
fn connections_are_used_again_where_the_site_wants_that() {
    let application = Application::new(|_| output(b"X: y\n\nbody"));
    let server = Site::new().serve(&format!(
        "FrontThreads 1\nProxyPass /once/ {}\nProxyPass /again/ {} enablereuse=on\n",
        application.url("/"),
        application.url("/"),
    ));
    for _ in 0..3 {
        assert_eq!(server.text("/once/x"), "body");
    }
    assert_eq!(application.connections(), 3);
    for _ in 0..3 {
        assert_eq!(server.text("/again/x"), "body");
    }
    assert_eq!(application.connections(), 4);
}

#[test]
fn a_connection_that_the_application_has_closed_is_replaced() {
    let application = Application::with(|stream| {
        if read(stream).is_some() {
            use std::io::Write;
            let _ = stream.write_all(&output(b"X: y\n\nbody"));
        }
    });
    let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / {} enablereuse=on\n", application.url("/")));
    for _ in 0..5 {
        assert_eq!(server.text("/x"), "body");
    }
}

#[test]
fn a_response_streams_while_the_application_still_writes() {
    let (go, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let application = Application::with(move |stream| {
        use std::io::Write;
        let _ = read(stream);
        let _ = stream.write_all(&record(6, b"Content-Type: text/plain\n\nfirst "));
        let _ = wait.lock().expect("a lock").recv();
        let _ = stream.write_all(&[record(6, b"second"), record(6, b""), end()].concat());
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\n", application.url("/")));
    let mut client = server.connect();
    client.raw("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.head().is(200);
    assert_eq!(client.chunk(), b"first ");
    go.send(()).expect("the application waits");
    assert_eq!(client.chunk(), b"second");
}

#[test]
fn lines_for_the_error_log_name_the_application_and_the_request() {
    let application = Application::new(|_| {
        let lines = [record(7, b"line 1\nli"), record(7, b"ne 2\n"), record(6, b"X: y\n\nbody"), record(7, b"line 3")];
        [lines.concat(), output(b"")].concat()
    });
    let server = Site::new().serve(&format!("ProxyPass /app/ {}\n", application.url("/")));
    assert_eq!(server.text("/app/x"), "body");
    for line in ["line 1", "line 2", "line 3"] {
        let line = server.logged(&format!("FastCGI application {}: {line}", application.url("")));
        assert!(line.contains("/app/x") && line.contains("127.0.0.1"), "{line}");
    }
}

#[test]
fn access_rules_come_before_the_application() {
    let (server, _program) = beside_dump(&format!(
        "<FilesMatch \"\\.php$\">\nSetHandler \"proxy:{BACKEND}\"\n</FilesMatch>\nProxyPass /p/ \"{BACKEND}/\"\n\
         <Location /sub>\nRequire all denied\n</Location>\n<Proxy \"{BACKEND}/closed*\">\nRequire all denied\n</Proxy>\n"
    ));
    assert_eq!(server.get("/sub/y.php").status, 403);
    assert_eq!(server.get("/p/closed/x").status, 403);
    assert_eq!(server.get("/p/open").status, 200);
}

/// Handlers that set a user and variables; `gate` refuses all others.
const HANDLERS: &str = "package Mine; use Apache::Constants qw(:common);\n\
    sub authen { my $r = shift; my ($rc, $password) = $r->get_basic_auth_pw; return $rc if $rc;\n\
      $r->subprocess_env(GROUP => 'staff'); $r->header_in('X-Set', 'set');\n\
      return OK if $password eq 'right'; $r->note_basic_auth_failure; AUTH_REQUIRED }\n\
    sub gate { FORBIDDEN } 1;";

#[test]
fn perl_handlers_run_before_an_application_and_set_its_variables() {
    let conf = format!(
        "PerlModule Mine\n<FilesMatch \"\\.php$\">\nSetHandler \"proxy:{BACKEND}\"\n</FilesMatch>\nProxyPass /x/ \"{BACKEND}/\"\n\
         <LocationMatch ^/(x|sub)/>\nAuthType Basic\nAuthName inside\nPerlAuthenHandler Mine::authen\nRequire valid-user\nPerlSetEnv PLACE here\n\
         </LocationMatch>\n<Location /x.php>\nPerlAccessHandler Mine::gate\n</Location>\n"
    );
    let site = Site::new().file("dump.pl", DUMP).file("htdocs/x.php", "secret").file("htdocs/sub/y.php", "secret");
    let site = site.file("lib/Mine.pm", HANDLERS);
    let socket = site.path("dump.sock");
    let _program = Program::start(Command::new("perl").arg(site.path("dump.pl")).arg(&socket));
    listening(&socket);
    let server = site.serve(&format!("PerlLib lib\n{conf}"));
    assert_eq!(server.get("/x.php").status, 403);
    for target in ["/x/a.pl?q=1", "/sub/y.php/info?q=1"] {
        assert_eq!(server.get(target).status, 401, "{target}");
        let answer = server
            .send(Request::new("POST", target).header("Authorization", "Basic YW5uOnJpZ2h0").body("12345"))
            .is(200)
            .text();
        let of = |name: &str| variable(&answer, name).to_owned();
        assert_eq!([of("REMOTE_USER"), of("AUTH_TYPE")], ["ann", "Basic"], "{answer}");
        assert_eq!([of("GROUP"), of("HTTP_X_SET"), of("PLACE")], ["staff", "set", "here"], "{answer}");
        assert_eq!([of("QUERY_STRING"), of("body"), of("CONTENT_LENGTH")], ["q=1", "5", "5"], "{answer}");
        assert_eq!([of("MOD_PERL"), of("PATH")], ["-", "-"], "{answer}");
    }
}
