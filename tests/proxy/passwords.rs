//! Passwords for the forward proxy: 407, `Proxy-Authenticate` and `Proxy-Authorization` (RFC 9110, section 11.7).

use std::process::Command;

use super::{Backend, ok};
use crate::support::{Finished, Request, Response, Server, Site, until};

/// The credentials of ann, `secret`, and of ben, `word`.
const ANN: &str = "Basic YW5uOnNlY3JldA==";
const BEN: &str = "Basic YmVuOndvcmQ=";
const USERS: &str = "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\nben:{SHA}PLzZCtxLGSqHpiWFC38jHK3fDrM=\n";

fn echo() -> Backend {
    Backend::new(|request| ok(&request.head.join("\n")))
}

fn serve(rules: &str, more: &str) -> Server {
    Site::new().file("users", USERS).file("htdocs/login.html", "please log in").serve(&format!(
        "ServerName localhost\nCustomLog access.log \"%u %s\"\nProxyRequests On\n{more}<Proxy \"*\">\nAuthType Basic\nAuthName \"the proxy\"\n\
         AuthUserFile @DIR@/users\n{rules}</Proxy>\n"
    ))
}

fn ask(server: &Server, url: &str, credentials: &str) -> Response {
    server.send(Request::get(url).header("Proxy-Authorization", credentials))
}

fn challenge(response: &Response) -> Option<String> {
    assert_eq!(response.header("WWW-Authenticate"), None);
    response.header("Proxy-Authenticate")
}

#[test]
fn a_client_without_a_password_gets_407_and_reaches_nothing() {
    let backend = echo();
    let server = serve("Require valid-user\n", "ErrorDocument 407 /login.html\n");
    let url = backend.url("/x");
    for request in [
        Request::get(&url),
        Request::get(&url).header("Authorization", ANN),
        Request::get(&url).header("Proxy-Authorization", "Basic YW5uOndyb25n"),
        Request::get(&url).header("Proxy-Authorization", "Basic"),
        Request::get(&url).header("Proxy-Authorization", "Bearer x"),
        Request::get(&url).header("Proxy-Authorization", &format!("Basic {}", "YW5u".repeat(1500))),
        Request::new("POST", &url).body("x".repeat(100_000)),
        Request::new("CONNECT", "127.0.0.1:443"),
    ] {
        let refused = server.send(request);
        assert_eq!((refused.status, challenge(&refused).as_deref()), (407, Some("Basic realm=\"the proxy\"")));
        assert_eq!(refused.text(), "please log in");
    }
    assert_eq!(backend.connections(), 0);
}

#[test]
fn a_password_for_the_proxy_stays_there_and_the_others_pass() {
    let backend = echo();
    let server = serve("Require user ann\n", "");
    let other = "Basic for-the-other-server";
    let request = Request::get(&backend.url("/x")).header("Proxy-Authorization", ANN).header("Authorization", other);
    let text = server.send(request).is(200).text();
    assert!(!text.contains("Proxy-Authorization") && text.contains(&format!("Authorization: {other}")), "{text}");
    let refused = ask(&server, &backend.url("/x"), BEN);
    assert_eq!((refused.status, challenge(&refused).is_some()), (407, true));
    assert_eq!(backend.received().len(), 1);
    until("both requests are logged", || server.site.read("access.log") == "ann 200\n- 407\n");
}

#[test]
fn the_pages_of_the_server_and_a_reverse_proxy_ask_by_401() {
    let backend = echo();
    let server = serve(
        "Require valid-user\n",
        &format!(
            "ProxyPass /pass {}\n<Location /login.html>\nAuthType Basic\nAuthName own\nAuthUserFile @DIR@/users\n\
             Require valid-user\n</Location>\n",
            backend.url("/")
        ),
    );
    for target in ["/login.html", "/pass/x"] {
        let refused = server.send(Request::get(target).header("Proxy-Authorization", ANN));
        assert_eq!((refused.status, refused.header("Proxy-Authenticate")), (401, None), "{target}");
        assert!(refused.header("WWW-Authenticate").is_some());
        server.send(Request::get(target).header("Authorization", ANN)).is(200);
    }
}

#[test]
fn a_server_behind_connect_is_reached_with_a_password() {
    let site = Site::new().certificate("localhost", &["localhost"]).file("htdocs/a.txt", "secret text");
    let secure = site.serve("SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n");
    let server = serve("Require valid-user\n", &format!("AllowCONNECT {}\n", secure.site.port));
    let curl = |user: &str| {
        let proxy = format!("http://127.0.0.1:{}", server.site.port);
        let url = "https://localhost:@PORT@/a.txt";
        crate::http2::curl(&secure, &["-x", &proxy, "--noproxy", "", "--proxy-user", user, "--proxy-anyauth", url])
    };
    assert_eq!(curl("ann:secret").succeeded().out, "secret text");
    assert!(curl("ann:wrong").err.contains("407"));
    until("the user is logged", || server.site.read("access.log").contains("ann 200"));
}

#[test]
fn digest_holds_for_urls_and_for_connect() {
    let backend = echo();
    let script = "use Digest::MD5 'md5_hex'; print 'ann:d:', md5_hex('ann:d:secret')";
    let line = Finished::of(Command::new("perl").args(["-e", script])).succeeded().out;
    let secure = Site::new().certificate("localhost", &["localhost"]).file("htdocs/a.txt", "secret text");
    let secure = secure.serve("SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n");
    let server = Site::new().file("users", &format!("{line}\n")).serve(&format!(
        "ServerName localhost\nProxyRequests On\nAllowCONNECT {}\n<Proxy \"*\">\nAuthType Digest\nAuthName d\nAuthUserFile @DIR@/users\n\
         Require valid-user\n</Proxy>\n",
        secure.site.port
    ));
    let curl = |user: &str, url: &str| {
        let proxy = format!("http://127.0.0.1:{}", server.site.port);
        crate::http2::curl(&secure, &["-i", "-x", &proxy, "--noproxy", "", "--proxy-user", user, "--proxy-digest", url])
    };
    let answer = curl("ann:secret", &backend.url("/x?a=b")).succeeded().out;
    assert!(answer.contains("GET /x?a=b HTTP/1.1"), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("\r\nproxy-authentication-info: rspauth="), "{answer}");
    assert!(curl("ann:secret", "https://localhost:@PORT@/a.txt").succeeded().out.ends_with("secret text"));
    assert!(curl("ann:wrong", &backend.url("/x")).out.contains("407"));
    assert_eq!(backend.received().len(), 1);
}

#[test]
fn another_proxy_gets_only_passwords_that_are_not_checked_here() {
    let proxy = echo();
    let conf = |rules: &str, more: &str| serve(rules, &format!("ProxyRemote * {}\n{more}", proxy.url("")));
    for (server, passes) in [
        (conf("Require ip 127.0.0.1\n", ""), true),
        (conf("Require valid-user\n", ""), false),
        (conf("Require valid-user\n", "SetEnv proxy-chain-auth 1\n"), true),
    ] {
        let text = ask(&server, "http://far.example/", ANN).is(200).text();
        assert_eq!(text.contains(&format!("Proxy-Authorization: {ANN}")), passes, "{text}");
    }
}

#[test]
fn a_perl_handler_for_passwords_does_not_open_the_proxy() {
    let backend = echo();
    let handler = "package Mine; sub handler { 0 } 1;";
    let server = Site::new().file("lib/Mine.pm", handler).serve(
        "ServerName localhost\nPerlLib lib\nPerlModule Mine\nProxyRequests On\n<Proxy \"*\">\nAuthType Basic\nAuthName a\n\
         PerlAuthenHandler Mine\nRequire valid-user\n</Proxy>",
    );
    let refused = ask(&server, &backend.url("/"), ANN);
    assert_eq!((refused.status, challenge(&refused)), (403, None));
    server.logged("PerlAuthenHandler does not check passwords of clients of a forward proxy");
    assert_eq!(backend.connections(), 0);
}
