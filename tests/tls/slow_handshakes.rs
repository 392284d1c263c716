//! Signatures that take milliseconds are computed on threads other than the one that serves clients.

use std::thread::scope;
use std::time::Duration;

use super::{GET, TLS, openssl, s_client, site};
use crate::support::{Address, Connection, Request, Server, threads};

/// A lower bound for the time of a signature with a 4096-bit key; it takes 3.6 ms on our machine.
const SIGNATURE: Duration = Duration::from_millis(1);

/// A site with a 4096-bit key and one thread for all clients. Clients without TLS connect to a unix socket.
fn serve(conf: &str) -> Server {
    let site = site();
    let make = "req -batch -x509 -nodes -newkey rsa:4096 -keyout localhost.key -out localhost.crt -days 30";
    openssl(&site, &format!("{make} -subj /CN=localhost"));
    let tls = format!("<VirtualHost 127.0.0.1:@PORT@>\n{TLS}</VirtualHost>\n");
    site.serve(&format!("FrontThreads 1\nListen \"@DIR@/plain.sock\"\n{conf}\n{tls}"))
}

/// CPU time of the front's `cameleer-comput…` threads.
fn computed(server: &Server) -> Duration {
    let all = threads(server.front());
    all.iter().filter(|(name, _)| name == "cameleer-comput").map(|(_, used)| *used).sum()
}

#[test]
fn many_slow_handshakes_delay_no_other_client() {
    let server = serve("");
    let mut neighbour = Connection::open(&Address::Unix(server.site.path("plain.sock"))).expect("it listens");
    assert_eq!(computed(&server), Duration::ZERO);
    scope(|scope| {
        let clients: Vec<_> = (0..16).map(|_| scope.spawn(|| s_client(&server, &[], GET))).collect();
        while clients.iter().any(|client| !client.is_finished()) {
            assert_eq!(neighbour.ask(Request::get("/a.txt")).is(200).text(), "hello\n");
        }
        for client in clients {
            let response = client.join().expect("no panic");
            assert!(response.contains("hello"), "{response}");
        }
    });
    assert!(computed(&server) > 16 * SIGNATURE, "{:?}", computed(&server));
}

#[test]
fn a_handshake_with_a_hello_retry_request_signs_on_a_compute_thread() {
    let server = serve("");
    for client in 1..=4 {
        // The client sends a key share of X448, which the server does not support, so the server must request another.
        let output = s_client(&server, &["-tls1_3", "-groups X448:P-384"], GET);
        assert!(output.contains("hello") && output.contains("Server Temp Key: ECDH, secp384r1"), "{output}");
        assert!(computed(&server) > client * SIGNATURE, "{:?}", computed(&server));
    }
}

#[test]
fn an_incompatible_client_gets_an_alert_and_a_log_line() {
    let server = serve("LogLevel info");
    let output = s_client(&server, &["-tls1_2", "-cipher ECDHE-ECDSA-AES128-GCM-SHA256"], GET);
    assert!(output.contains("alert handshake failure"), "{output}");
    server.logged("connection failed: peer is incompatible");
}
