//! `RemoteIPProtoHeader`: a proxy terminates TLS and reports that in a header, and programs see it.

use crate::support::{Request, Server, Site, until};

const APP: &str = r#"sub { my $e = shift; [200, [], [join '|', map $_ // '-', $e->{'psgi.url_scheme'}, @$e{qw(HTTPS SERVER_PORT)}]] }"#;
const HANDLER: &str = "package Own; use Apache::URI; sub handler { my $r = shift; $r->send_http_header('text/plain'); \
     $r->lookup_uri('/own/sub')->run if $r->is_main; \
     $r->print(join '|', Apache::URI->parse($r)->unparse, $r->subprocess_env('HTTPS') // '-', $ENV{HTTPS} // '-'); $r->print(qq(\\n)); 0 } 1;";
const PROTO: &str = "RemoteIPProtoHeader X-Forwarded-Proto\nRemoteIPInternalProxy 127.0.0.2 127.0.0.3\n";

fn serve(conf: &str) -> Server {
    let places = "PerlLib lib\nPerlModule Own\n<Location /app>\nPsgiApp app.psgi\n</Location>\n\
         <Location /own>\nSetHandler perl-script\nPerlHandler Own\nPerlSetupEnv On\n</Location>\n\
         <Location /closed>\nSSLRequireSSL\n</Location>\nCustomLog access.log \"%{HTTPS}x\"\n";
    Site::new()
        .file("app.psgi", APP)
        .file("lib/Own.pm", HANDLER)
        .file("htdocs/closed/a.txt", "closed")
        .serve(&format!("{places}{conf}"))
}

/// The response of `target` to a request through `proxy`.
#[track_caller]
fn body_of(server: &Server, proxy: &str, target: &str, headers: &[(&str, &str)]) -> String {
    let request = Request::get(target).header("Host", "www.example.com");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    server.send_as(proxy, request).is(200).text()
}

#[test]
fn a_trusted_proxy_reports_the_clients_scheme() {
    let server = serve(PROTO);
    for (value, app, own) in [
        ("https", "https|on|443", "https://www.example.com/own/sub|on|on\nhttps://www.example.com/own|on|on\n"),
        ("HTTPS", "https|on|443", "https://www.example.com/own/sub|on|on\nhttps://www.example.com/own|on|on\n"),
        ("http", "http|-|80", "http://www.example.com/own/sub|-|-\nhttp://www.example.com/own|-|-\n"),
    ] {
        assert_eq!(body_of(&server, "127.0.0.2", "/app", &[("X-Forwarded-Proto", value)]), app, "{value}");
        assert_eq!(body_of(&server, "127.0.0.2", "/own", &[("X-Forwarded-Proto", value)]), own, "{value}");
    }
    until("the log knows", || server.site.read("access.log") == "on\non\non\non\n-\n-\n");
    let port = server.site.port;
    for value in ["", "gopher", "https,"] {
        let own = format!("http|-|{port}");
        let expected = if value == "https," { "https|on|443" } else { &own };
        assert_eq!(body_of(&server, "127.0.0.2", "/app", &[("X-Forwarded-Proto", value)]), expected, "{value:?}");
    }
    let named = Request::get("/app").header("Host", "www.example.com:8443").header("X-Forwarded-Proto", "https");
    assert_eq!(server.send_as("127.0.0.2", named).text(), "https|on|8443", "a port that the client has named");
}

#[test]
fn other_clients_do_not_set_the_scheme() {
    let server = serve(PROTO);
    let own = format!("http|-|{}", server.site.port);
    for value in ["https", "on", "https, https"] {
        assert_eq!(body_of(&server, "127.0.0.1", "/app", &[("X-Forwarded-Proto", value)]), own, "{value}");
    }
    let request = || Request::get("/closed/a.txt").header("X-Forwarded-Proto", "https");
    server.send_as("127.0.0.1", request()).is(403);
    server.send_as("127.0.0.2", request()).is(200);
    server.send_as("127.0.0.2", Request::get("/closed/a.txt").header("X-Forwarded-Proto", "http")).is(403);
    let without = serve("RemoteIPInternalProxy 127.0.0.2\n");
    let own = format!("http|-|{}", without.site.port);
    assert_eq!(body_of(&without, "127.0.0.2", "/app", &[("X-Forwarded-Proto", "https")]), own, "off by default");
}

#[test]
fn the_first_trusted_proxy_of_several_counts() {
    let server = serve(&format!("{PROTO}RemoteIPHeader X-Forwarded-For\n"));
    let scheme = |clients: &str, protos: &str| {
        let headers = [("X-Forwarded-For", clients), ("X-Forwarded-Proto", protos)];
        body_of(&server, "127.0.0.2", "/app", &headers).split('|').next().unwrap_or_default().to_owned()
    };
    assert_eq!(scheme("192.0.2.7, 127.0.0.3", "https, http"), "https", "both are ours");
    assert_eq!(scheme("192.0.2.7, 127.0.0.3", "https"), "https", "the second has left it as it was");
    assert_eq!(scheme("192.0.2.7", "https, http"), "http", "what the client says of itself");
    assert_eq!(scheme("127.0.0.3, 192.0.2.7", "https, http, http"), "http", "nor what it says of ours");
}

#[test]
fn forwarded_names_the_scheme_by_proto() {
    let server =
        serve("RemoteIPHeader Forwarded\nRemoteIPProtoHeader Forwarded\nRemoteIPInternalProxy 127.0.0.2 127.0.0.3\n");
    let variables = |value: &str| body_of(&server, "127.0.0.2", "/app", &[("Forwarded", value)]);
    assert_eq!(variables("for=192.0.2.7;proto=https"), "https|on|443");
    assert_eq!(variables("for=192.0.2.7;proto=\"https\";by=127.0.0.3, for=127.0.0.3;proto=http"), "https|on|443");
    assert_eq!(variables("proto=https;for=192.0.2.8, for=192.0.2.7;proto=http"), "http|-|80");
}

#[test]
fn remote_ip_proto_header_needs_a_list_of_trusted_proxies() {
    let site = Site::new();
    site.configure("RemoteIPProtoHeader X-Forwarded-Proto\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "RemoteIPProtoHeader: needs a list of trusted proxies");
}
