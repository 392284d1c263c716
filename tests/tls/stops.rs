//! Stops under load: every accepted client gets its handshake and response, over TLS as without
//! (tests/workers/faults/stops.rs).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::{TLS, site};
use crate::support::{LAST_CALL, Server, until};

type Tls = BufReader<StreamOwned<ClientConnection, TcpStream>>;

/// A client configuration that trusts the server's certificate.
fn trust(server: &Server) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(server.site.path("localhost.crt")).expect("a certificate");
    roots.add(certificate).expect("a certificate");
    Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

fn open(socket: TcpStream, trust: &Arc<ClientConfig>) -> io::Result<Tls> {
    socket.set_read_timeout(Some(Duration::from_secs(30)))?;
    let name = ServerName::try_from("localhost").expect("a name");
    let session = ClientConnection::new(trust.clone(), name).map_err(io::Error::other)?;
    Ok(BufReader::new(StreamOwned::new(session, socket)))
}

/// Sends a request, after the handshake on a new connection.
fn send(tls: &mut Tls, keeps: bool) -> io::Result<()> {
    let close = if keeps { "" } else { "Connection: close\r\n" };
    tls.get_mut().write_all(format!("GET /a.txt HTTP/1.1\r\nHost: localhost\r\n{close}\r\n").as_bytes())
}

/// Reads the whole response; returns whether the connection persists.
fn receive(tls: &mut Tls) -> io::Result<bool> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if tls.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let mut body = [0; 6];
    tls.read_exact(&mut body)?;
    match head.starts_with("HTTP/1.1 200 ") && &body == b"hello\n" {
        true => Ok(!head.to_ascii_lowercase().contains("connection: close")),
        false => Err(io::Error::other(head)),
    }
}

/// A client that sends requests until its connection is refused. It returns an error for each request on an accepted
/// connection that got no complete response. A request does not count when handshake and request took [`LAST_CALL`].
fn ask_until_refused(server: &Server, keeps: bool, answered: &Arc<AtomicU64>) -> JoinHandle<Vec<String>> {
    let (port, trust, answered) = (server.site.port, trust(server), answered.clone());
    spawn(move || {
        let mut lost = Vec::new();
        let mut kept = None;
        loop {
            let now = Instant::now();
            let (mut tls, since) = match kept.take() {
                Some(kept) => kept,
                None => match TcpStream::connect(("127.0.0.1", port)) {
                    Ok(socket) => (open(socket, &trust).expect("a session"), now),
                    Err(_) => return lost,
                },
            };
            let sent = send(&mut tls, keeps);
            let is_late = since.elapsed() >= LAST_CALL;
            match sent.and_then(|()| receive(&mut tls)) {
                Ok(goes_on) => {
                    answered.fetch_add(1, Ordering::Relaxed);
                    kept = goes_on.then_some((tls, now));
                }
                Err(_) if is_late => {}
                Err(error) => lost.push(error.to_string()),
            }
        }
    })
}

#[test]
fn three_stops_under_load_by_thirty_connections_lose_nothing() {
    for _ in 0..3 {
        let mut server = site().serve(TLS);
        let answered = Arc::new(AtomicU64::new(0));
        let clients: Vec<_> = (0..30).map(|n| ask_until_refused(&server, n % 2 == 0, &answered)).collect();
        until("the clients send requests", || answered.load(Ordering::Relaxed) > 200);
        server.signal(Signal::SIGTERM);
        let lost: Vec<String> = clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect();
        assert_eq!(lost, Vec::<String>::new());
        assert_eq!(server.wait(), 0);
    }
}
