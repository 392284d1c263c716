//! `ProxyRequests`, `ProxyBlock`, `ProxyRemote`: mod/mod_proxy.html. beside_httpd/mod_proxy.txt has httpd's answers.

use super::{Backend, ok};
use crate::support::{Request, Server, Site, until};

/// A backend that answers with the lines of the request's head.
fn echo() -> Backend {
    Backend::new(|request| ok(&request.head.join("\n")))
}

fn serve(conf: &str) -> Server {
    Site::new().file("htdocs/a.txt", "own").file("htdocs/sorry.html", "own error page").serve(&format!(
        "ServerName localhost\nProxyRequests On\nErrorDocument 403 /sorry.html\n{conf}\n\
         <Proxy \"*\">\nRequire ip 127.0.0.1\n</Proxy>"
    ))
}

#[test]
fn a_request_for_another_server_is_forwarded_with_its_path_as_sent() {
    let backend = echo();
    let server = serve(
        "Alias /a.txt @DIR@/none\nRedirect /moved http://x.example/\nRewriteEngine On\nRewriteRule . - [F]\n\
         <Location />\nRequire all denied\n</Location>",
    );
    for target in ["/x?q", "/a%2Fb//c/../d%zz", "/moved/x", "/"] {
        let request =
            Request::get(&backend.url(target)).header("Proxy-Authorization", "Basic x").header("Host", "wrong");
        let text = server.send(request).is(200).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("GET {target} HTTP/1.1"));
        assert!(lines.contains(&format!("Host: 127.0.0.1:{}", backend.port).as_str()), "{text}");
        assert!(!text.contains("Authorization") && !text.contains("X-Forwarded"), "{text}");
    }
    assert_eq!(backend.connections(), 4);
}

#[test]
fn a_target_with_the_own_name_is_for_the_own_pages() {
    let server = serve("");
    let port = server.site.port;
    assert_eq!(server.text("/a.txt"), "own");
    assert_eq!(server.text(&format!("http://localhost:{port}/a.txt")), "own");
}

#[test]
fn a_client_that_proxy_does_not_allow_gets_the_own_error_page_and_reaches_nothing() {
    let backend = echo();
    let server = serve("");
    let refused = server.send_as("127.0.0.2", Request::get(&backend.url("/x"))).is(403);
    assert_eq!(refused.text(), "own error page");
    assert_eq!(server.send_as("127.0.0.2", Request::get("/a.txt")).is(200).text(), "own");
    assert_eq!(backend.connections(), 0);
}

#[test]
fn other_schemes_and_blocked_hosts_are_refused() {
    let backend = echo();
    let server = serve("ProxyBlock Secret localhost");
    assert_eq!(server.get("https://127.0.0.1/").is(403).text(), "own error page");
    server.get("ftp://127.0.0.1/").is(400);
    server.get(&format!("http://LOCALHOST:{}/", backend.port)).is(403);
    server.get("http://a.secret.example/").is(403);
    server.logged("a.secret.example is blocked by ProxyBlock");
    assert_eq!(backend.connections(), 0);
}

#[test]
fn another_proxy_gets_the_whole_url() {
    let (proxy, other) = (echo(), echo());
    let server = serve(&format!(
        "ProxyRemote http://direct.example/ {}\nProxyRemote http://far. {}\nCacheEnable mem /",
        other.url(""),
        proxy.url("")
    ));
    let request = Request::get("http://Far.example:81/x?q").header("Proxy-Authorization", "Basic x");
    let text = server.send(request).is(200).text();
    assert_eq!(text.lines().next(), Some("GET http://far.example:81/x?q HTTP/1.1"));
    assert!(text.contains("Host: far.example:81") && text.contains("Proxy-Authorization: Basic x"), "{text}");
    assert_eq!((proxy.connections(), other.connections()), (1, 0));
}

/// The name localhost is looked up, because there is a network.
#[test]
fn a_pattern_chooses_another_proxy_and_hosts_of_no_proxy_are_asked_directly() {
    let (proxy, direct) = (echo(), echo());
    let server = serve(&format!(
        "ProxyRemoteMatch ^http://[a-z0-9.]+:\\d+/ {}\nNoProxy 127.0.0.0/8 .intra.example printer",
        proxy.url("")
    ));
    let line = |url: &str| server.get(url).is(200).text().lines().next().unwrap_or_default().to_owned();
    assert_eq!(line(&direct.url("/x")), "GET /x HTTP/1.1");
    assert_eq!(line(&format!("http://localhost:{}/y", direct.port)), "GET /y HTTP/1.1");
    assert_eq!(line("http://far.example:81/x"), "GET http://far.example:81/x HTTP/1.1");
    assert_eq!((proxy.connections(), direct.connections()), (1, 2));
    // Neither the pattern nor the list has these names, which lead to nothing.
    for url in ["http://a.intra.example:81/", "http://printer:81/", "http://a_b.example:81/"] {
        assert!(server.get(url).status >= 500, "{url}");
    }
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn a_pattern_of_another_proxy_that_explodes_refuses_the_request() {
    let (proxy, direct) = (echo(), echo());
    let server = serve(&format!("ProxyRemoteMatch (a+)+[bc]$ {}", proxy.url("")));
    assert_eq!(server.get(&direct.url(&format!("/{}", "a".repeat(3000)))).status, 500);
    let log = server.logged("needs too many steps for a text of");
    assert!(log.contains("ProxyRemoteMatch"), "{log}");
    assert_eq!((proxy.connections(), direct.connections()), (0, 0));
    server.get(&direct.url("/x")).is(200);
}

#[test]
fn a_host_without_a_domain_is_redirected_to_that_of_proxy_domain() {
    let backend = echo();
    let server = serve("ProxyDomain .corp.example");
    let location = |request: Request| server.send(request).is(301).header("Location");
    assert_eq!(location(Request::get("http://www/x?q")).as_deref(), Some("http://www.corp.example/x?q"));
    assert_eq!(location(Request::new("HEAD", "http://www:81/")).as_deref(), Some("http://www.corp.example:81/"));
    server.get(&format!("http://localhost:{}/", backend.port)).is(200);
    server.get(&backend.url("/")).is(200);
    // The name does not exist, and the form is not sent elsewhere.
    assert!(server.post("http://www/", "a=b").status >= 500);
    server.send_as("127.0.0.2", Request::get("http://www/")).is(403);
}

#[test]
fn a_forwarded_response_is_neither_stored_nor_taken_from_the_cache() {
    let backend = Backend::new(|request| {
        let body = request.field("X-Number");
        let head = format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: {}\r\n\r\n", body.len());
        format!("{head}{body}").into_bytes()
    });
    let server = serve("CacheEnable mem /");
    for number in ["1", "2"] {
        assert_eq!(server.send(Request::get(&backend.url("/")).header("X-Number", number)).is(200).text(), number);
    }
}

#[test]
fn check_warns_of_a_proxy_that_is_open() {
    let site = Site::new();
    site.configure("ProxyRequests On");
    let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let text = format!("{}{}", checked.out, checked.err);
    assert!(text.contains("every client can send requests to any server"), "{text}");
    site.configure("ProxyRequests On\n<Proxy *>\nRequire ip 127.0.0.1\n</Proxy>\nNoProxy a/b");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "NoProxy: expected a");
    site.configure("ProxyRequests On\n<Proxy *>\nRequire ip 127.0.0.1\n</Proxy>\nProxyDomain example");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "ProxyDomain: expected a domain that begins with a dot");
}

#[test]
fn check_refuses_perl_filters_of_a_backends_responses() {
    let site = Site::new();
    site.configure(
        "PerlGeneration 2\n<Location /app/inner>\nPerlOutputFilterHandler My::filter\n</Location>\n\
         ProxyPass /app/inner/free !\nProxyPass /app http://127.0.0.1:1/\nProxyPass /other http://127.0.0.1:1/",
    );
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "ProxyPass: /app/inner has PerlOutputFilterHandler");
    site.configure(
        "PerlGeneration 2\n<Location /app/inner>\nPerlOutputFilterHandler My::filter\n</Location>\n\
         ProxyPass /app/inner !\nProxyPass /app http://127.0.0.1:1/",
    );
    let checked = site.cameleer(["check", "-f", "site.conf"]);
    assert!(!checked.err.contains("ProxyPass: "), "{checked:?}");
}

#[test]
fn if_sections_and_rules_about_the_uri_apply_to_the_whole_url() {
    let backend = echo();
    let port = backend.port;
    let server = Site::new().serve(&format!(
        "ServerName localhost\nProxyRequests On\nCustomLog access.log \"%U\"\n\
         SetEnvIf Request_URI ^http://127.0.0.1:{port}/env hidden\n\
         <Proxy \"*\">\n<RequireAll>\nRequire ip 127.0.0.1\nRequire not env hidden\n\
         Require expr %{{REQUEST_URI}} !~ m#/expr#\n</RequireAll>\n\
         <If \"%{{REQUEST_URI}} =~ m#^http://127.0.0.1:{port}/inner#\">\nRequire all denied\n</If>\n</Proxy>\n\
         <If \"%{{HTTP:X-Outer}} == 'yes'\">\nRequire all denied\n</If>\n\
         <If \"%{{THE_REQUEST}} =~ m#^GET http://[^ ]*/line #\">\nRequire all denied\n</If>"
    ));
    for path in ["/env", "/expr", "/inner", "/line"] {
        assert_eq!(server.get(&backend.url(path)).status, 403, "{path}");
    }
    assert_eq!(server.send(Request::get(&backend.url("/x")).header("X-Outer", "yes")).status, 403);
    assert_eq!(backend.connections(), 0);
    server.get(&backend.url("/x")).is(200);
    let url = format!("http://127.0.0.1:{port}/inner");
    assert!(server.logged("client denied by server configuration").contains(&format!("http://127.0.0.1:{port}/")));
    until("the access log has the URL", || server.site.read("access.log").lines().any(|line| line == url));
}

#[test]
fn a_perl_handler_sees_the_whole_url_of_a_forwarded_request() {
    let backend = echo();
    let gate = "package Gate; use Apache::Constants qw(OK FORBIDDEN);\n\
        sub handler { my $r = shift; $r->header_in('X-Uri', $r->uri); $r->uri =~ m#^http://.*/no# ? FORBIDDEN : OK } 1;";
    let server = Site::new().file("lib/Gate.pm", gate).serve(
        "ServerName localhost\nPerlLib lib\nPerlModule Gate\nProxyRequests On\n\
         <Proxy \"*\">\nRequire ip 127.0.0.1\nPerlAccessHandler Gate\n</Proxy>",
    );
    let text = server.text(&backend.url("/a%2Fb?q"));
    assert!(text.contains(&format!("X-Uri: {}", backend.url("/a%2Fb"))), "{text}");
    assert!(text.starts_with("GET /a%2Fb?q HTTP/1.1"), "{text}");
    server.get(&backend.url("/no")).is(403);
    assert_eq!(backend.connections(), 1);
}

#[test]
fn sections_apply_to_each_form_of_a_target() {
    let backend = echo();
    let port = backend.port;
    let server = Site::new().serve(&format!(
        "ServerName localhost\nProxyRequests On\n<Proxy \"*\">\nRequire ip 127.0.0.1\n</Proxy>\n\
         <Proxy \"http://LocalHost.:0{port}/\">\nRequire all denied\n</Proxy>\n\
         <Proxy \"http://blocked.example:80/\">\nRequire all denied\n</Proxy>"
    ));
    for target in [
        format!("http://localhost:{port}/"),
        format!("http://LOCALHOST.:{port}/"),
        format!("http://localhost:00{port}/"),
    ] {
        assert_eq!(server.get(&target).status, 403, "{target}");
    }
    for target in ["http://blocked.example/", "http://blocked.example:80/", "http://blocked.example.:080/"] {
        assert_eq!(server.get(target).status, 403, "{target}");
    }
    assert_eq!(backend.connections(), 0);
    server.get(&format!("http://127.0.0.1:00{port}/")).is(200);
}

#[test]
fn a_blocked_address_is_blocked_in_each_form_and_by_each_name() {
    let backend = echo();
    let port = backend.port;
    let server = serve(&format!(
        "ProxyBlock 127.0.0.1\nProxyPass /pass http://localhost:{port}/\nProxyPass /group balancer://group/\n\
         <Proxy balancer://group>\nBalancerMember http://127.0.0.1:{port}\n</Proxy>"
    ));
    for (host, status) in [
        ("127.0.0.1", 403),
        ("127.0.0.1.", 403),
        ("127.1", 400),
        ("0x7f000001", 400),
        ("2130706433", 400),
        ("0177.0.0.1", 400),
        ("0.0.0.0", 400),
        ("[::ffff:7f00:1]", 400),
        ("localhost", 403),
    ] {
        assert_eq!(server.get(&format!("http://{host}:{port}/")).status, status, "{host}");
    }
    server.get("/pass/x").is(403);
    server.get("/group/x").is(403);
    server.logged("its address 127.0.0.1 is blocked by ProxyBlock");
    assert_eq!(backend.connections(), 0);
}

#[test]
fn a_client_by_its_address_needs_no_password_and_keeps_its_own() {
    let backend = echo();
    let server = Site::new().file("users", "ann:{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc=\n").serve(
        "ServerName localhost\nProxyRequests On\n<Proxy \"*\">\nAuthType Basic\nAuthName a\nAuthUserFile @DIR@/users\n\
         Require valid-user\nRequire ip 127.0.0.2\n</Proxy>",
    );
    let request = || Request::get(&backend.url("/")).header("Authorization", "Basic YW5uOnNlY3JldA==");
    assert!(server.send(request()).is(407).header("WWW-Authenticate").is_none());
    assert_eq!(backend.connections(), 0);
    let text = server.send_as("127.0.0.2", request()).is(200).text();
    assert!(text.contains("Authorization: Basic YW5uOnNlY3JldA=="), "{text}");
}

#[test]
fn check_warns_of_perl_handlers_for_passwords_and_refuses_a_proxy_that_is_this_server() {
    let site = Site::new().file("lib/Mine.pm", "package Mine; sub handler { 0 } 1;");
    site.configure(
        "PerlLib lib\nPerlModule Mine\nProxyRequests On\n<Proxy *>\nRequire user ann\nPerlAuthenHandler Mine\n</Proxy>",
    );
    let checked = site.cameleer(["check", "-f", "site.conf"]);
    let text = format!("{}{}", checked.out, checked.err);
    assert!(text.contains("handlers do not check passwords of clients of a forward proxy"), "{text}");
    for own in ["localhost", "127.0.0.1", "0.0.0.0"] {
        site.configure(&format!("ProxyRequests On\nProxyRemote * http://{own}:{}\n<Proxy *>\n</Proxy>", site.port));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "ProxyRemote: this server itself listens");
    }
}

#[test]
fn a_forwarded_request_in_a_loop_is_answered_508() {
    let (first, second) = (Site::new(), Site::new());
    let conf = |to: u16| {
        format!(
            "ServerName localhost\nProxyRequests On\nProxyVia Block\nProxyRemote * http://127.0.0.1:{to}\n<Proxy *>\n</Proxy>"
        )
    };
    let (to_first, to_second) = (conf(first.port), conf(second.port));
    let (first, _second) = (first.serve(&to_second), second.serve(&to_first));
    first.get("http://nowhere.example/").is(508);
    first.logged("http://nowhere.example/ is not forwarded: it has passed through this server before");
}

#[test]
fn options_with_max_forwards_0_is_not_forwarded() {
    let backend = echo();
    let server = serve("");
    let options =
        |left: &str| server.send(Request::new("OPTIONS", &backend.url("/")).header("Max-Forwards", left)).is(200);
    assert_eq!(options("0").text(), "");
    assert_eq!(backend.connections(), 0);
    assert!(options("1").text().contains("Max-Forwards: 0"));
}

#[test]
fn a_section_with_wildcards_and_without_a_scheme_has_hosts_in_any_case_and_paths_in_their_own() {
    let backend = echo();
    let server = Site::new().serve(
        "ServerName localhost\nProxyRequests On\n<Proxy \"*\">\nRequire ip 127.0.0.1\n</Proxy>\n\
         <Proxy \"*/Private/*\">\nRequire all denied\n</Proxy>\n\
         <Proxy \"*.Secret.Example/*\">\nRequire all denied\n</Proxy>",
    );
    for target in [backend.url("/Private/x"), "http://a.SECRET.example/".to_owned()] {
        server.get(&target).is(403);
    }
    assert_eq!(backend.connections(), 0);
    server.get(&backend.url("/private/x")).is(200);
}
