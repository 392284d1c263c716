//! TLS versions, cipher suites, and clients that misbehave.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use super::{GET, curl, s_client, serve};
use crate::support::{patience, until};

#[test]
fn tls_1_2_and_1_3_are_supported_and_older_versions_are_not() {
    let server = serve("");
    for (version, agreed) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let output = s_client(&server, &[version], GET);
        assert!(output.contains(&format!("New, {agreed}")) && output.contains("hello"), "{output}");
    }
    for old in ["-tls1_1", "-tls1"] {
        let output = s_client(&server, &[old, "-cipher DEFAULT@SECLEVEL=0"], GET);
        assert!(!output.contains("hello"), "{output}");
        // An alert shows that the server refused, not the client.
        assert!(output.contains("SSL alert number"), "{output}");
    }
}

#[test]
fn a_client_without_a_common_tls_version_gets_an_alert() {
    let server = serve("Protocols h2 http/1.1");
    let output = s_client(&server, &["-alpn spdy/3,gopher"], GET);
    assert!(output.contains("alert no application protocol") && !output.contains("hello"), "{output}");
    let http1 = serve("Protocols http/1.1");
    let output = s_client(&http1, &["-alpn h2"], GET);
    assert!(output.contains("alert no application protocol"), "{output}");
    for (offered, agreed) in
        [("h2,http/1.1", "ALPN protocol: http/1.1"), ("spdy/3,http/1.1", "ALPN protocol: http/1.1")]
    {
        let output = s_client(&http1, &["-alpn", offered], GET);
        assert!(output.contains(agreed) && output.contains("hello"), "{offered}: {output}");
    }
    let output = s_client(&http1, &[], GET);
    assert!(output.contains("No ALPN negotiated") && output.contains("hello"), "{output}");
}

#[test]
fn a_site_may_speak_one_version_only() {
    let server = serve("SSLProtocol -all +TLSv1.3");
    assert!(s_client(&server, &["-tls1_3"], GET).contains("hello"));
    assert!(!s_client(&server, &["-tls1_2"], GET).contains("hello"));
}

#[test]
fn a_site_may_choose_its_suites() {
    let server =
        serve("SSLCipherSuite ECDHE-ECDSA-AES128-GCM-SHA256\nSSLCipherSuite TLSv1.3 TLS_CHACHA20_POLY1305_SHA256");
    let output = s_client(&server, &["-tls1_2"], GET);
    assert!(output.contains("Cipher is ECDHE-ECDSA-AES128-GCM-SHA256"), "{output}");
    let output = s_client(&server, &["-tls1_3"], GET);
    assert!(output.contains("Cipher is TLS_CHACHA20_POLY1305_SHA256"), "{output}");
}

#[test]
fn the_servers_order_of_suites_applies_with_ssl_honor_cipher_order() {
    let suites = "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384";
    let clients = "-cipher ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305";
    for (order, chosen) in [("On", "ECDHE-ECDSA-CHACHA20-POLY1305"), ("Off", "ECDHE-ECDSA-AES256-GCM-SHA384")] {
        let server = serve(&format!("SSLCipherSuite {suites}\nSSLHonorCipherOrder {order}"));
        let output = s_client(&server, &["-tls1_2", clients], GET);
        assert!(output.contains(&format!("Cipher is {chosen}")), "{order}: {output}");
    }
}

#[test]
fn a_handshake_that_never_ends_is_closed_and_delays_no_other() {
    let server = serve("RequestReadTimeout handshake=2");
    let mut slow = std::net::TcpStream::connect(("127.0.0.1", server.site.port)).expect("the server accepts");
    slow.set_read_timeout(Some(patience())).expect("a time limit");
    slow.write_all(&[22, 3, 1, 2, 0, 1]).expect("sent");
    until("others are answered", || curl(&server, &["https://localhost:@PORT@/a.txt"]).out == "hello\n");
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).expect("closed in time");
}

#[test]
fn a_handshake_that_comes_byte_by_byte_has_its_own_limit() {
    let server = serve("RequestReadTimeout handshake=500ms");
    let mut slow = std::net::TcpStream::connect(("127.0.0.1", server.site.port)).expect("the server accepts");
    slow.set_read_timeout(Some(Duration::from_millis(20))).expect("a time limit");
    // A record of 512 bytes, a byte each 20 ms. Each byte is progress, but the whole record would take ten seconds.
    let mut bytes = [22, 3, 1, 2, 0, 1, 0, 1, 252].into_iter().chain(std::iter::repeat(3));
    until("the connection is closed", || {
        let sent = slow.write_all(&[bytes.next().unwrap_or_default()]);
        let contents = slow.read(&mut [0; 100]);
        sent.is_err() || !contents.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    });
}

#[test]
fn garbage_in_place_of_a_handshake_is_closed() {
    let server = serve("");
    let mut garbage = std::net::TcpStream::connect(("127.0.0.1", server.site.port)).expect("the server accepts");
    garbage.set_read_timeout(Some(patience())).expect("a time limit");
    garbage.write_all(&[[22, 3, 1, 0, 5].as_slice(), &[0xff; 40]].concat()).expect("sent");
    let mut rest = Vec::new();
    // The connection ends with an alert or a reset.
    let _ = garbage.read_to_end(&mut rest);
    assert!(rest.len() < 20 && rest.first().is_none_or(|kind| *kind == 21), "{rest:?}");
    assert_eq!(curl(&server, &["https://localhost:@PORT@/a.txt"]).succeeded().out, "hello\n");
}
