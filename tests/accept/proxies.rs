//! The client's address behind proxies: `RemoteIP…`.

use crate::support::{Connection, Request, Server, Site};

const APP: &str = r#"sub { my $e = shift; [200, [], [join '|', $e->{REMOTE_ADDR}, map $e->{$_} // '-', qw(HTTP_X_FORWARDED_FOR HTTP_X_BY)]] }"#;
const HANDLER: &str = "package Who; sub handler { my $r = shift; $r->send_http_header('text/plain'); \
     $r->print($r->connection->remote_ip); 0 } 1;";

/// An application and a handler that print the client's address.
fn serve(conf: &str) -> Server {
    let places = "PerlLib lib\nPerlModule Who\n<Location /app>\nPsgiApp app.psgi\n</Location>\n\
         <Location /who>\nSetHandler perl-script\nPerlHandler Who\n</Location>\n\
         <Location /private>\nOrder Deny,Allow\nDeny from all\nAllow from 192.0.2.0/24\n</Location>\n\
         CustomLog access.log \"%h %a %{c}a %>s\"\n";
    Site::new()
        .file("app.psgi", APP)
        .file("lib/Who.pm", HANDLER)
        .file("htdocs/private/a.txt", "private")
        .serve(&format!("{places}{conf}"))
}

fn asked_for(target: &str, clients: &str) -> Request {
    Request::get(target).header("X-Forwarded-For", clients)
}

#[test]
fn a_trusted_proxy_sets_the_clients_address() {
    let server = serve("RemoteIPHeader X-Forwarded-For\nRemoteIPTrustedProxy 127.0.0.1\nRemoteIPProxiesHeader X-By");
    let body = server.send(asked_for("/app", "198.51.100.1, 192.0.2.7")).is(200).text();
    assert_eq!(body, "192.0.2.7|198.51.100.1|127.0.0.1");
    assert_eq!(server.send(asked_for("/who", "192.0.2.7")).text(), "192.0.2.7");
    assert_eq!(server.send(asked_for("/app", "10.0.0.1")).text(), "127.0.0.1|10.0.0.1|-", "a private address");
    assert_eq!(server.send(Request::get("/app")).text(), "127.0.0.1|-|-");
    assert_eq!(
        server.send_as("127.0.0.2", asked_for("/app", "192.0.2.7")).text(),
        "127.0.0.2|192.0.2.7|-",
        "not trusted"
    );
    server.send(asked_for("/private/a.txt", "192.0.2.7")).is(200);
    server.send(asked_for("/private/a.txt", "203.0.113.1")).is(403);
    server.send_as("127.0.0.2", asked_for("/private/a.txt", "192.0.2.7")).is(403);
    assert!(server.logged("client denied").contains("[client 203.0.113.1:"));
    crate::support::until("the log names both", || {
        server.site.read("access.log").contains("192.0.2.7 192.0.2.7 127.0.0.1 200")
    });
}

#[test]
fn no_proxy_is_trusted_unless_configured() {
    let server = serve("");
    assert_eq!(server.send(asked_for("/app", "192.0.2.7")).text(), "127.0.0.1|192.0.2.7|-");
    server.send(asked_for("/private/a.txt", "192.0.2.7")).is(403);
}

#[test]
fn an_internal_proxy_may_name_private_addresses() {
    let server = serve("RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.0/8 10.0.0.0/8");
    assert_eq!(server.send(asked_for("/app", "192.0.2.7, 10.1.1.1")).text(), "192.0.2.7|-|-");
    assert_eq!(server.send(asked_for("/app", "10.1.1.1")).text(), "10.1.1.1|-|-");
}

#[test]
fn proxies_are_read_from_files() {
    let site = || {
        Site::new()
            .file("conf/own", "# Ours.\n127.0.0.2 127.0.0.3  # two\n\n127.0.0.4\n")
            .file("conf/cdn", "127.0.1.0/24\n")
            .file("who.psgi", APP)
    };
    let conf = "<Location />\nPsgiApp who.psgi\n</Location>\nRemoteIPHeader X-Forwarded-For\n\
         RemoteIPInternalProxyList conf/own\nRemoteIPTrustedProxyList \"@DIR@/conf/cdn\"\n";
    let server = site().serve(conf);
    let body_of = |proxy: &str, client: &str| server.send_as(proxy, asked_for("/", client)).text();
    for proxy in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
        assert_eq!(body_of(proxy, "10.0.0.7"), "10.0.0.7|-|-");
    }
    assert_eq!(
        (body_of("127.0.1.9", "192.0.2.7").as_str(), body_of("127.0.1.9", "10.0.0.7").as_str()),
        ("192.0.2.7|-|-", "127.0.1.9|10.0.0.7|-")
    );
    assert_eq!(body_of("127.0.0.1", "192.0.2.7"), "127.0.0.1|192.0.2.7|-", "not listed");
    server.site.write("conf/own", "127.0.0.1\n");
    server.reload().succeeded();
    assert_eq!(body_of("127.0.0.1", "10.0.0.7"), "10.0.0.7|-|-", "a reload reads the files again");
    server.site.write("conf/own", "127.0.0.1\n\nbalancer.example.com\n");
    server.reload().failed(1, "conf/own:3: RemoteIPInternalProxyList: expected an address or a network");
    server.site.write("conf/own", "# 127.0.0.1\n");
    server.reload().failed(1, "lists no proxies, and without a list every proxy is trusted");
    assert_eq!(body_of("127.0.0.1", "10.0.0.7"), "10.0.0.7|-|-", "the old one serves on");
}

#[test]
fn a_forged_entry_hides_no_address_that_a_proxy_adds() {
    let lines = "RemoteIPInternalProxy 127.0.0.1\n<IfModule mod_remoteip.c>\nRemoteIPHeader ";
    let own = "<Location /own>\nRequire ip 127.0.0.1\n</Location>\n";
    for (header, stranger, added) in [
        ("X-Forwarded-For", &b"\""[..], "192.0.2.7"),
        ("X-Forwarded-For", b"\xe9", "192.0.2.7"),
        ("X-Forwarded-For", b"a\\\"b", "192.0.2.7"),
        ("Forwarded", b"for=\"", "for=192.0.2.7"),
        ("Forwarded", b"for=\"\\\"", "for=\"192.0.2.7\""),
        ("Forwarded", b"\xff\"", "for=192.0.2.7"),
    ] {
        let server = serve(&format!("{lines}{header}\n</IfModule>\n{own}"));
        server.site.write("htdocs/own/a.txt", "own");
        let ask = |target: &str, fields: &[&[u8]]| {
            let mut connection = server.connect();
            let fields: Vec<u8> =
                fields.iter().flat_map(|it| [header.as_bytes(), b": ", *it, b"\r\n"].concat()).collect();
            connection.raw([b"GET ", target.as_bytes(), b" HTTP/1.1\r\nHost: a\r\n", &*fields, b"\r\n"].concat());
            connection.response()
        };
        let joined = [stranger, b", ", added.as_bytes()].concat();
        for fields in [&[&*joined][..], &[stranger, added.as_bytes()]] {
            assert_eq!(ask("/who", fields).text(), "192.0.2.7", "{header} {fields:?}");
            ask("/own/a.txt", fields).is(403);
        }
    }
}

#[test]
fn forwarded_is_understood() {
    let server = serve("RemoteIPHeader Forwarded\nRemoteIPInternalProxy 127.0.0.1");
    let body_of = |value: &str| server.send(Request::get("/who").header("Forwarded", value)).text();
    assert_eq!(body_of("for=192.0.2.60;proto=http;by=203.0.113.43"), "192.0.2.60");
    assert_eq!(body_of("for=192.0.2.1, for=\"[2001:db8::17]:4711\""), "2001:db8::17");
    assert_eq!(body_of("for=unknown"), "127.0.0.1");
}

#[test]
fn a_virtual_host_has_its_own_proxies() {
    let host = |name: &str, inside: &str| {
        format!(
            "<VirtualHost *:@PORT@>\nServerName {name}\n{inside}\n<Location /who>\nSetHandler perl-script\nPerlHandler Who\n</Location>\n</VirtualHost>\n"
        )
    };
    let conf = host("a", "") + &host("b", "RemoteIPHeader X-Real-IP") + "RemoteIPHeader X-Forwarded-For\n";
    let server = serve(&conf);
    let body_of = |name: &str| {
        server.send(asked_for("/who", "192.0.2.7").header("X-Real-IP", "192.0.2.8").header("Host", name)).text()
    };
    assert_eq!((body_of("a"), body_of("b")), ("192.0.2.7".to_owned(), "192.0.2.8".to_owned()));
}

/// Sends the balancer's header, and then a request.
fn through(server: &Server, header: &[u8]) -> Connection {
    let mut connection = server.connect();
    connection.send_if_heard(header);
    connection.send_if_heard(b"GET /who HTTP/1.1\r\nHost: a\r\n\r\n");
    connection
}

#[test]
fn a_proxy_header_sets_the_clients_address() {
    let server = serve("RemoteIPProxyProtocol On\nRemoteIPProxyProtocolExceptions 127.0.0.9");
    let v4 =
        [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c".as_slice(), &[192, 0, 2, 8, 127, 0, 0, 1, 0x13, 0x88, 0, 80]].concat();
    let own = b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00";
    let headers: [(&[u8], &str); 5] = [
        (b"PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\n", "192.0.2.7"),
        (b"PROXY TCP6 2001:db8::7 ::1 5000 80\r\n", "2001:db8::7"),
        (b"PROXY UNKNOWN\r\n", "127.0.0.1"),
        (&v4, "192.0.2.8"),
        (own, "127.0.0.1"),
    ];
    for (header, client) in headers {
        let mut connection = through(&server, header);
        assert_eq!(connection.response().text(), client);
        assert_eq!(connection.ask(Request::get("/who")).text(), client, "it holds for the whole connection");
        let mut slow = server.connect();
        header.iter().for_each(|byte| slow.raw([*byte]));
        assert_eq!(slow.ask(Request::get("/who")).text(), client, "byte by byte");
    }
    assert_eq!(server.send_as("127.0.0.9", Request::get("/who")).text(), "127.0.0.9", "an exception");
}

#[test]
fn a_connection_without_its_proxy_header_is_not_served() {
    let server = serve("RemoteIPProxyProtocol On\nRemoteIPProxyProtocolExceptions 127.0.0.9");
    let wrong: [&[u8]; 5] = [
        b"",
        b"PROXY TCP4 192.0.2.7\r\n",
        b"PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\n",
        b"PROXY TCP4 192.0.2.7 127.0.0.1 5000 80 and much more than a header has, up to a hundred and seven bytes or so\r\n",
        b"\r\n\r\n\0\r\nQUIT\n\x31\x11\x00\x00",
    ];
    for header in wrong {
        through(&server, header).is_closed();
    }
    server.logged("does not begin with a valid PROXY header");
    assert_eq!(server.send_as("127.0.0.9", Request::get("/who")).text(), "127.0.0.9");
}

#[test]
fn an_unexpected_proxy_header_is_a_400() {
    let server = serve("");
    through(&server, b"PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\n").response().is(400);
}

/// The expected values are those of Debian's Apache 2.4 with mod_remoteip, mod_setenvif, mod_rewrite and mod_headers.
/// Rules and logs use the list of clients without the proxies' additions, and the client's own address.
#[test]
fn rules_and_logs_see_the_headers_as_programs_do() {
    let rules = "RemoteIPHeader X-Forwarded-For\nRemoteIPTrustedProxy 127.0.0.1 192.0.2.9\nRemoteIPProxiesHeader X-By\n\
         SetEnvIf Remote_Addr ^(.*)$ ADDR=$1\nSetEnvIf X-Forwarded-For ^(.+)$ XFF=$1\nSetEnvIfNoCase X-By ^(.*)$ BY=$1\n\
         SetEnvIf ^X-F.* ^(.+)$ ANY=$1\nSetEnvIfExpr \"%{HTTP:X-Forwarded-For} =~ /198/\" EXPR=1\n\
         SetEnvIfExpr \"-R '198.51.100.0/24'\" EXPRADDR=1\n\
         RewriteEngine On\nRewriteCond %{HTTP:X-Forwarded-For} ^(.+)$\nRewriteRule .* - [E=RW:%1]\n\
         Header echo ^X-F\n";
    let names = ["ADDR", "XFF", "BY", "ANY", "EXPR", "EXPRADDR", "RW"];
    let headers: String = names.map(|name| format!("Header set {name} \"%{{{name}}}e\" env={name}\n")).concat();
    let server = Site::new()
        .file("htdocs/page", "page")
        .serve(&format!("{rules}{headers}CustomLog access.log \"%a [%{{X-Forwarded-For}}i] [%{{X-By}}i]\"\n"));
    let (client, first, by) = (Some("198.51.100.1"), Some("203.0.113.5"), Some("127.0.0.1"));
    for (forwarded, expected) in [
        ("198.51.100.1", [client, None, by, None, None, Some("1"), None]),
        ("203.0.113.5, 198.51.100.1", [client, first, by, first, None, Some("1"), first]),
        (
            "203.0.113.5, 198.51.100.1, 192.0.2.9",
            [client, first, Some("127.0.0.1, 192.0.2.9"), first, None, Some("1"), first],
        ),
    ] {
        let response = server.send(asked_for("/page", forwarded)).is(200);
        for (name, expected) in names.iter().zip(expected) {
            assert_eq!(response.header(name).as_deref(), expected, "{name} of {forwarded}");
        }
        assert_eq!(response.header("X-Forwarded-For").as_deref(), expected[1], "echo of {forwarded}");
    }
    crate::support::until("all three are logged", || server.site.read("access.log").lines().count() == 3);
    let log = server.site.read("access.log");
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        [
            "198.51.100.1 [-] [127.0.0.1]",
            "198.51.100.1 [203.0.113.5] [127.0.0.1]",
            "198.51.100.1 [203.0.113.5] [127.0.0.1, 192.0.2.9]"
        ]
    );
}
