//! `ProxyRequests`, `ProxyBlock`, `ProxyRemote`: mod/mod_proxy.html. beside_httpd/mod_proxy.txt has httpd's answers.

use super::{Backend, ok};
use crate::support::{Request, Server, Site};

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
fn other_schemes_blocked_hosts_and_connect_are_refused() {
    let backend = echo();
    let server = serve("ProxyBlock Secret localhost");
    assert_eq!(server.get("https://127.0.0.1/").is(403).text(), "own error page");
    server.get("ftp://127.0.0.1/").is(400);
    server.get(&format!("http://LOCALHOST:{}/", backend.port)).is(403);
    server.get("http://a.secret.example/").is(403);
    server.logged("a.secret.example is blocked by ProxyBlock");
    assert_eq!(server.send(Request::new("CONNECT", &format!("127.0.0.1:{}", backend.port))).status, 405);
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
    site.configure("ProxyRequests On\n<Proxy *>\nRequire ip 127.0.0.1\n</Proxy>\nAllowCONNECT 443");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "refuses CONNECT");
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
