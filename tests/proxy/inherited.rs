//! Settings of hosts and places for backends: `ProxyPassInherit`, `ProxySourceAddress`, `AuthBasicFake off`, and
//! parameters that httpd knows and that have no effect here.

use super::{Backend, ok};
use crate::support::{Request, Site};

fn echo() -> Backend {
    Backend::new(|request| ok(&request.head.join("\n")))
}

#[test]
fn a_virtual_host_has_the_main_servers_backends_unless_it_turns_that_off() {
    let backend = echo();
    let host = |name: &str, lines: &str| format!("<VirtualHost *>\nServerName {name}\n{lines}\n</VirtualHost>\n");
    let pass = format!("ProxyPass /a {}\n", backend.url("/there"));
    let own = format!("ProxyPassInherit Off\nProxyPass /b {}", backend.url("/own"));
    let hosts = [host("with.example", ""), host("without.example", &own), host("again.example", "ProxyPassInherit On")];
    for (main, expected) in [("", [200, 404, 200]), ("ProxyPassInherit Off\n", [404, 404, 200])] {
        let server = Site::new().serve(&format!("ServerName main.example\n{main}{pass}{}", hosts.concat()));
        let ask = |name: &str, path: &str| server.send(Request::get(path).header("Host", name));
        assert_eq!(["with.example", "without.example", "again.example"].map(|name| ask(name, "/a/x").status), expected);
        assert!(ask("without.example", "/b/x").is(200).text().starts_with("GET /own/x "));
    }
}

#[test]
fn connections_to_backends_begin_at_the_source_address() {
    let backend = Site::new().file("htdocs/a.txt", "seen").serve("<Location />\nRequire ip 127.0.0.3\n</Location>");
    let port = backend.site.port;
    let server = Site::new().serve(&format!(
        "ServerName localhost\nProxySourceAddress 127.0.0.3\nProxyPass /pass http://127.0.0.1:{port}\n\
         ProxyPass /six http://[::1]:{port}\nProxyPass /group balancer://group\n\
         <Proxy balancer://group>\nBalancerMember http://127.0.0.1:{port} hcmethod=GET hcuri=/a.txt hcinterval=1\n</Proxy>\n\
         RewriteEngine On\nRewriteRule ^/rule(.*) http://127.0.0.1:{port}$1 [P]"
    ));
    for place in ["/pass", "/group", "/rule"] {
        assert_eq!(server.text(&format!("{place}/a.txt")), "seen", "{place}");
    }
    server.get("/six/a.txt").is(503);
    server.logged("ProxySourceAddress 127.0.0.3: it cannot reach ::1");
    let site = Site::new();
    site.configure("ProxySourceAddress localhost");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "ProxySourceAddress: expected an IP address");
}

#[test]
fn an_inner_off_cancels_the_credentials_of_an_outer_place() {
    let backend = echo();
    let server = Site::new().serve(&format!(
        "ProxyPass /a {}\n<Location /a>\nAuthBasicFake demo\n</Location>\n<Location /a/off>\nAuthBasicFake off\n</Location>",
        backend.url("/")
    ));
    // The credentials are those of `demo:password`.
    assert!(server.text("/a/x").contains("Authorization: Basic ZGVtbzpwYXNzd29yZA=="));
    assert!(!server.text("/a/off").contains("Authorization"));
}

#[test]
fn parameters_of_httpd_without_an_effect_are_accepted_with_a_warning() {
    let site = Site::new();
    let checked = |conf: &str| {
        site.configure(conf);
        let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
        checked.out + &checked.err
    };
    for (word, warning) in [
        ("addressttl=30", "addresses of a name are looked up again after 5 s"),
        ("secret=x", "secret has no effect"),
        ("flusher=flush", "flusher has no effect"),
        ("route=a", "this backend is no member of a balancer"),
    ] {
        let text = checked(&format!("ProxyPass /a http://127.0.0.1:1/ {word}"));
        assert!(text.contains(warning), "{word}: {text}");
    }
    let text = checked(
        "<Proxy balancer://a>\nBalancerMember http://127.0.0.1:1 route=a addressttl=30\n\
         ProxySet lbmethod=heartbeat maxattempts=0 timeout=1 nonce=None growth=5\n</Proxy>\nProxyPass /a balancer://a",
    );
    assert!(text.contains("lbmethod=heartbeat counts as bybusyness"), "{text}");
}
