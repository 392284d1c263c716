//! Extensions of the PROXY header: what the balancer knows about the client's connection.

use std::process::Command;

use crate::support::{Finished, Haproxy, Server, Site};

const APP: &str =
    "sub { my $env = shift; [200, [], [map { \"$_=$env->{$_}\\n\" } grep { /^PROXY_/ } sort keys %$env]] }";

fn serve() -> Server {
    Site::new().file("app.psgi", APP).certificate("site", &["shop.example"]).serve(
        "RemoteIPProxyProtocol On\nRemoteIPProxyProtocolExceptions 127.0.0.9\n<Location />\nPsgiApp app.psgi\n</Location>\n",
    )
}

fn tlv(kind: u8, value: &[u8]) -> Vec<u8> {
    [&[kind][..], &(value.len() as u16).to_be_bytes(), value].concat()
}

/// The response to a request behind a header with these extensions, without its head.
fn ask(server: &Server, tlvs: &[u8]) -> String {
    let mut connection = server.connect();
    let length = (12 + tlvs.len() as u16).to_be_bytes();
    let header =
        [b"\r\n\r\n\0\r\nQUIT\n\x21\x11", &length[..], &[192, 0, 2, 7, 127, 0, 0, 1, 19, 136, 0, 80], tlvs].concat();
    connection.send_if_heard(&header);
    connection.send_if_heard(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    String::from_utf8_lossy(&connection.rest())
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned())
        .unwrap_or_default()
}

#[test]
fn programs_get_the_extensions_and_hostile_ones_are_left_out_or_refused() {
    let server = serve();
    let body = ask(&server, &[tlv(1, b"h2"), tlv(2, b"shop.example"), tlv(5, b"id-1"), tlv(0xe0, b"own")].concat());
    for expected in [
        "PROXY_PROTOCOL_TLV_ALPN=h2\n",
        "PROXY_PROTOCOL_TLV_AUTHORITY=shop.example\n",
        "PROXY_PROTOCOL_TLV_UNIQUE_ID=id-1\n",
    ] {
        assert!(body.contains(expected), "{body}");
    }
    for left_out in [&b"a\nPROXY_PROTOCOL_TLV_SSL_CN=admin"[..], &[0xff; 9], "x".repeat(60_000).as_bytes()] {
        let body = ask(&server, &tlv(2, left_out));
        assert!(!body.contains("PROXY_PROTOCOL_TLV"), "{body}");
    }
    assert_eq!(ask(&server, &[2, 0, 9, b'a']), "");
    server.logged("an extension (TLV) is cut off");
    assert_eq!(ask(&server, &tlv(3, &[1, 2, 3, 4])), "");
    server.logged("the extension CRC32C differs from the header's checksum");
}

#[test]
fn haproxy_reports_the_tls_of_its_client() {
    let server = serve();
    server.site.write("both.pem", &(server.site.read("site.crt") + &server.site.read("site.key")));
    let backend = format!(
        "  server a 127.0.0.1:{} send-proxy-v2 proxy-v2-options ssl,cert-cn,ssl-cipher,authority,crc32c,unique-id\n",
        server.site.port
    );
    let frontend =
        format!("ssl crt {} alpn http/1.1\n  unique-id-format order-%ci-%rt", server.site.path("both.pem").display());
    let haproxy = Haproxy::start(&server.site, &frontend, &backend);
    let port = haproxy.port;
    let mut curl = Command::new("curl");
    curl.args([
        "-sk",
        "--resolve",
        &format!("shop.example:{port}:127.0.0.1"),
        &format!("https://shop.example:{port}/"),
    ]);
    let body = Finished::of(&mut curl).succeeded().out;
    for expected in [
        "PROXY_PROTOCOL_TLV_AUTHORITY=shop.example\n",
        "PROXY_PROTOCOL_TLV_UNIQUE_ID=order-127.0.0.1-",
        "PROXY_PROTOCOL_TLV_SSL_VERSION=TLSv1.",
        "PROXY_PROTOCOL_TLV_SSL_CIPHER=",
    ] {
        assert!(body.contains(expected), "{expected} is not in {body}");
    }
}
