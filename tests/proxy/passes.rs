//! Selection of the backend for a request, and the request as the backend receives it.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::thread::spawn;

use super::{Backend, ok};
use crate::support::{Request, Site};

/// A backend that answers with the request line.
fn echo() -> Backend {
    Backend::new(|request| ok(request.line()))
}

#[test]
fn a_prefix_leads_to_the_path_of_the_backend() {
    let (one, two) = (echo(), echo());
    let server = Site::new().file("htdocs/a/no.txt", "a file").serve(&format!(
        "ProxyPass /a/no.txt !\nProxyPass /a/deep {}\nProxyPass /a/ {}\nProxyPassMatch ^/n/(\\d+)$ {}\n\
         <Location /place>\nProxyPass {}\n</Location>\nProxyPass /place/no !\nProxyPass /bare {}\n\
         Redirect /bare/moved http://elsewhere.example/\n",
        two.url("/d"),
        one.url("/b/"),
        two.url("/item?n=$1"),
        one.url("/here"),
        two.url(""),
    ));
    for (target, expected) in [
        ("/a/", "GET /b/ HTTP/1.1"),
        ("/a/c%20d?q=1&r", "GET /b/c%20d?q=1&r HTTP/1.1"),
        ("/a/%c3%a9//x/../y", "GET /b/%C3%A9/y HTTP/1.1"),
        ("/a/deep/er", "GET /d/er HTTP/1.1"),
        ("/a/deeper", "GET /b/deeper HTTP/1.1"),
        ("/bare/x", "GET /x HTTP/1.1"),
        ("/bare", "GET / HTTP/1.1"),
        ("/bare/moved/x", "GET /moved/x HTTP/1.1"),
        ("/n/42", "GET /item%3Fn=42 HTTP/1.1"),
        ("/n/42?m=1", "GET /item%3Fn=42?m=1 HTTP/1.1"),
        ("/place/no", "GET /here/no HTTP/1.1"),
        ("/a/no.txt", "a file"),
    ] {
        assert_eq!(server.text(target), expected, "{target}");
    }
    assert_eq!(server.get("/n/x").status, 404);
    assert_eq!(server.get("/barely").status, 404, "as in httpd, a path ends at a segment");
}

#[test]
fn nocanon_and_noquery_change_what_follows_the_path() {
    let backend = echo();
    let server = Site::new().serve(&format!(
        "AllowEncodedSlashes NoDecode\nProxyPass /raw/ {} nocanon\nProxyPass /bare/ {} noquery\n",
        backend.url("/"),
        backend.url("/"),
    ));
    assert_eq!(server.text("/raw/a%2Fb%7e?c"), "GET /a%2Fb%7e?c HTTP/1.1");
    assert_eq!(server.text("/bare/a?c"), "GET /a HTTP/1.1");
}

#[test]
fn a_backend_gets_the_fields_of_the_client_but_those_of_its_connection() {
    let backend = echo();
    let server = Site::new().serve(&format!("ServerName www.example\nProxyPass / {}\n", backend.url("/")));
    let request = Request::get("/x")
        .header("Host", "public.example:81")
        .header("Connection", "X-Hop")
        .header("X-Hop", "1")
        .header("TE", "trailers")
        .header("Upgrade", "h2c")
        .header("Proxy-Authorization", "Basic eA==")
        .header("Authorization", "Basic eTp6")
        .header("X-Forwarded-For", "10.0.0.1")
        .header("X-Twice", "a")
        .header("X-Twice", "b");
    assert_eq!(server.send(request).status, 200);
    let got = backend.only();
    assert_eq!(got.field("Host"), format!("127.0.0.1:{}", backend.port));
    assert_eq!(got.field("X-Forwarded-For"), "10.0.0.1, 127.0.0.1");
    assert_eq!(got.field("X-Forwarded-Host"), "public.example:81");
    assert_eq!(got.field("X-Forwarded-Server"), "www.example");
    assert_eq!(got.field("Authorization"), "Basic eTp6");
    assert_eq!(got.all("X-Twice").join(", "), "a, b");
    assert_eq!(got.field("Proxy-Authorization"), "Basic eA==", "as in httpd");
    for name in ["Connection", "X-Hop", "TE", "Upgrade", "Transfer-Encoding"] {
        assert_eq!(got.all(name), Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn a_client_takes_back_nothing_that_the_site_adds() {
    let backend = echo();
    let server = Site::new()
        .serve(&format!("ProxyPreserveHost On\nRequestHeader set X-Mine yes\nProxyPass / {}\n", backend.url("/")));
    let request = Request::get("/").header("Connection", "X-Mine, Host, X-Hop").header("X-Hop", "1");
    assert_eq!(server.send(request).status, 200);
    let got = backend.only();
    assert_eq!((got.field("X-Mine"), got.field("Host"), got.field("X-Hop")), ("yes", "localhost", ""));
}

#[test]
fn proxy_preserve_host_and_proxy_add_headers_off_pass_the_head_unchanged() {
    let backend = echo();
    let server = Site::new().serve(&format!(
        "ProxyPreserveHost On\nProxyAddHeaders Off\nProxyVia On\nRequestHeader set X-Mine yes\nProxyPass / {}\n",
        backend.url("/")
    ));
    assert_eq!(server.send(Request::get("/").header("Host", "public.example:81")).status, 200);
    let got = backend.only();
    assert_eq!(got.field("Host"), "public.example:81");
    assert_eq!(got.field("X-Forwarded-For"), "");
    assert_eq!(got.field("Via"), "1.1 localhost");
    assert_eq!(got.field("X-Mine"), "yes");
}

#[test]
fn addresses_in_a_response_become_this_servers() {
    let backend = Backend::new(|request| {
        let host = request.field("Host");
        format!(
            "HTTP/1.1 302 Found\r\nLocation: http://{host}/app/next?a=b\r\nContent-Location: http://other.example/app/\r\n\
             Set-Cookie: s=1; Path=/app/x; Domain=inner.example\r\nSet-Cookie: t=2; Path=/else\r\n\
             Connection: X-Hop\r\nX-Hop: 1\r\nServer: inner\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"
        )
        .into_bytes()
    });
    let url = backend.url("/app/");
    let server = Site::new().serve(&format!(
        "ProxyPass /pub/ {url}\nProxyPassReverse /pub/ {url}\nProxyPassReverseCookiePath /app/ /pub/\n\
         ProxyPassReverseCookieDomain inner.example www.example\n"
    ));
    let public = format!("localhost:{}", server.site.port);
    let without_port = server.get("/pub/x").header("Location");
    assert_eq!(without_port.as_deref(), Some("http://localhost/pub/next?a=b"), "as in httpd, Host has the port");
    let response = server.send(Request::get("/pub/x").header("Host", &public));
    let all = |name: &str| {
        let fields = response.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(response.status, 302);
    assert_eq!(all("Location"), [format!("http://{public}/pub/next?a=b")]);
    assert_eq!(all("Content-Location"), ["http://other.example/app/"]);
    assert_eq!(all("Set-Cookie"), ["s=1; Path=/pub/; Domain=www.example", "t=2; Path=/else"]);
    assert_eq!(all("Server"), ["inner"]);
    assert_eq!(all("Date"), ["Thu, 01 Jan 2026 00:00:00 GMT"]);
    assert_eq!(all("X-Hop"), Vec::<&str>::new());
}

#[test]
fn access_rules_of_places_and_of_proxy_sections_hold() {
    let backend = echo();
    let url = backend.url("/");
    let server = Site::new().file("htdocs/.htaccess", "Require all denied\n").serve(&format!(
        "<Directory @DIR@/htdocs>\nAllowOverride All\nRequire all denied\n</Directory>\n\
         ProxyPass /open/ {url}\nProxyPass /shut/ {url}shut/\nProxyPass /place/ {url}\n\
         <Proxy {url}shut>\nRequire all denied\n</Proxy>\n<Proxy *>\nHeader set X-Of-Proxy yes\n</Proxy>\n\
         <Location /place/secret>\nRequire all denied\n</Location>\n"
    ));
    assert_eq!(server.get("/open/x").header("X-Of-Proxy").as_deref(), Some("yes"));
    // Rules of a place hold for all that ProxyPass sends to its backend.
    for (target, status) in
        [("/open/x", 200), ("/shut/x", 403), ("/place/x", 200), ("/place/secret", 403), ("/openly", 403)]
    {
        assert_eq!(server.get(target).status, status, "{target}");
    }
}

#[test]
fn a_socket_of_the_file_system_is_a_backend() {
    let site = Site::new();
    let listener = UnixListener::bind(site.path("backend.sock")).expect("a socket");
    let server = site.serve("ProxyPass / unix:@DIR@/backend.sock|http://inner.example/p/\n");
    spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n")
                && std::io::Read::read(&mut stream, &mut byte).is_ok_and(|read| read == 1)
            {
                head.extend_from_slice(&byte);
            }
            let _ = stream.write_all(&ok(&String::from_utf8_lossy(&head)));
        }
    });
    let text = server.text("/x").to_ascii_lowercase();
    assert!(text.starts_with("get /p/x http/1.1\r\n"), "{text}");
    assert!(text.contains("\r\nhost: inner.example\r\n"), "{text}");
}

#[test]
fn connections_to_a_backend_are_used_again_unless_they_must_not() {
    let backend = echo();
    let server = Site::new().serve(&format!(
        "ProxyPass /kept/ {}\nProxyPass /fresh/ {} disablereuse=On\nFrontThreads 1\n",
        backend.url("/"),
        backend.url("/"),
    ));
    let used = |targets: [&str; 3]| {
        let before = backend.received().len();
        targets.iter().for_each(|target| drop(server.text(target)));
        let all = backend.received();
        all[before..].iter().map(|request| request.connection).collect::<std::collections::HashSet<_>>().len()
    };
    assert_eq!(used(["/kept/1", "/kept/2", "/kept/3"]), 1);
    // The idle connection is not used for requests with `disablereuse`; each of their connections is closed.
    assert_eq!(used(["/fresh/1", "/fresh/2", "/fresh/3"]), 3);
}

#[test]
fn a_rewrite_rule_names_a_backend() {
    let backend = echo();
    let server = Site::new()
        .file("htdocs/sub/.htaccess", &format!("RewriteEngine On\nRewriteRule ^(.*)\\.app$ {} [P]\n", backend.url("/in/$1")))
        .file("htdocs/sub/real.txt", "a file")
        .serve(&format!(
            "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\nRewriteEngine On\n\
             RewriteCond %{{HTTP_HOST}} ^app\\.\nRewriteRule ^/(.*)$ {} [P]\nRewriteRule ^/q/(.*)$ {} [P,QSA]\n\
             RewriteRule ^/wrong$ ftp://one/ [P]\n<Proxy {}>\nRequire all denied\n</Proxy>\nRewriteRule ^/shut$ {} [P]\n",
            backend.url("/all/$1"),
            backend.url("/q?is=$1"),
            backend.url("/denied"),
            backend.url("/denied"),
        ));
    let of_host = Request::get("/a%20b/c?d=e").header("Host", "app.example");
    assert_eq!(server.send(of_host).text(), "GET /all/a%20b/c?d=e HTTP/1.1");
    for (target, expected) in [
        ("/q/1?b=2", "GET /q?is=1&b=2 HTTP/1.1"),
        ("/sub/x.app?y", "GET /in/x?y HTTP/1.1"),
        ("/sub/real.txt", "a file"),
    ] {
        assert_eq!(server.text(target), expected, "{target}");
    }
    assert_eq!(server.get("/shut").status, 403);
    assert_eq!(server.get("/wrong").status, 500);
    server.logged("RewriteRule: flag P: backends of the scheme ftp:// are not supported");
}

#[test]
fn rules_of_a_htaccess_file_may_name_sockets_balancers_and_tls_that_the_configuration_names() {
    let backend = echo();
    let server = Site::new()
        .file(
            "htdocs/.htaccess",
            "RewriteEngine On\nRewriteRule ^named$ balancer://named/x [P]\nRewriteRule ^other$ balancer://other/x [P]\n\
             RewriteRule ^tls$ https://127.0.0.1:1/x [P]\nRewriteRule ^socket$ unix:/nowhere.sock|http://localhost/x [P]\n",
        )
        .serve(&format!(
            "<Proxy balancer://named>\nBalancerMember {0}\n</Proxy>\nBalancerMember balancer://other {0}\n\
             <Directory @DIR@/htdocs>\nAllowOverride FileInfo\nOptions FollowSymLinks\n</Directory>\n",
            backend.url("")
        ));
    assert_eq!(server.text("/named"), "GET /x HTTP/1.1");
    assert_eq!(server.get("/socket").status, 500);
    for (target, origin) in [("/other", "balancer://other"), ("/tls", "https://127.0.0.1:1")] {
        assert_eq!(server.get(target).status, 500, "{target}");
        server.logged(&format!("the configuration of this place does not name {origin}"));
    }
    assert_eq!(backend.received().len(), 1);
}

#[test]
fn a_variable_keeps_a_request_here_or_stands_in_the_path_of_the_backend() {
    let backend = echo();
    let url = backend.url("/");
    let server = Site::new().file("htdocs/here/a.txt", "a file").serve(&format!(
        "SetEnvIf Request_URI ^/here/ no-proxy\nSetEnvIf X-Name (.*) NAME=$1\nProxyPassInterpolateEnv On\n\
         ProxyPass /of/ {url}${{NAME}}/ interpolate\nProxyPass / {url}\n"
    ));
    assert_eq!(server.text("/here/a.txt"), "a file");
    assert_eq!(server.text("/there/a.txt"), "GET /there/a.txt HTTP/1.1");
    let named = |name: &str| server.send(Request::get("/of/x").header("X-Name", name)).text();
    assert_eq!([named("one"), named("two /..")], ["GET /one/x HTTP/1.1", "GET /two%20/../x HTTP/1.1"]);
    assert_eq!(server.text("/of/$%7BNAME%7D"), "GET //$%7BNAME%7D HTTP/1.1", "a client names no variables");
}

#[test]
fn variables_change_version_and_connection_of_a_request() {
    let backend = echo();
    let server = Site::new().serve(&format!(
        "FrontThreads 1\nProxyPass / {}\n<Location /old>\nSetEnv force-proxy-request-1.0 1\nSetEnv proxy-nokeepalive 1\n</Location>\n",
        backend.url("/")
    ));
    assert_eq!([server.text("/old"), server.text("/old")], ["GET /old HTTP/1.0"; 2]);
    assert_eq!(server.text("/new"), "GET /new HTTP/1.1");
    let connections: Vec<usize> = backend.received().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 1, 2]);
}

#[test]
fn a_question_about_the_server_is_no_question_to_a_backend() {
    let backend = echo();
    let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
    let answer = server.send(Request::new("OPTIONS", "*"));
    assert_eq!(
        (answer.status, answer.header("content-length").as_deref(), answer.text().as_str()),
        (200, Some("0"), "")
    );
    assert_eq!(server.send(Request::get("*")).status, 400);
    assert!(backend.received().is_empty());
    assert_eq!(server.send(Request::new("OPTIONS", "/x")).text(), "OPTIONS /x HTTP/1.1");
}

#[test]
fn if_sections_hold_for_a_rule_of_a_folder_that_names_a_backend() {
    let backend = Backend::new(|request| ok(request.line()));
    let rules = format!(
        "RewriteEngine On\nRewriteRule \"^(.*)$\" \"{}$1\" [P]\n\
         <If \"%{{HTTP:X-Go}} == 'no'\">\nRequire all denied\n</If>\n\
         <If \"%{{HTTP:X-Go}} == 'yes'\">\nHeader set X-If yes\n</If>\n",
        backend.url("/at/")
    );
    let server = Site::new()
        .file("htdocs/one/a.txt", "one")
        .file("htdocs/two/a.txt", "two")
        .file("htdocs/two/.htaccess", &rules)
        .serve(&format!(
            "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n<Directory @DIR@/htdocs/one>\n{rules}</Directory>\n"
        ));
    for folder in ["one", "two"] {
        let ask = |go: &str| server.send(Request::get(&format!("/{folder}/a.txt?q")).header("X-Go", go));
        assert_eq!(ask("no").status, 403, "{folder}");
        let answer = ask("yes").is(200);
        assert_eq!(
            (answer.text().as_str(), answer.header("X-If").as_deref()),
            ("GET /at/a.txt?q HTTP/1.1", Some("yes"))
        );
        assert_eq!(ask("other").is(200).header("X-If"), None);
    }
    assert_eq!(backend.received().len(), 4);
}
