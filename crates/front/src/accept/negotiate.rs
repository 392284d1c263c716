//! Negotiation: TLS or not, HTTP/1 or HTTP/2.
//!
//! ```text
//!   TLS here? ──yes──▶ first byte a handshake's? ──yes──▶ ClientHello ─SNI─▶ host ─▶ handshake ─ALPN─▶ HTTP/2 or HTTP/1
//!      │ no                     └──no──▶ HTTP/1; the response refers to https
//!      └─▶ `Protocols h2c`? ──yes──▶ HTTP/2's preface? ─▶ HTTP/2 or HTTP/1
//!
//! Where `Protocols` omits http/1.1, every connection is HTTP/2.
//! ```

use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::server::Acceptor;
use tokio::io::AsyncWriteExt;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::StartHandshake;

use super::slow_handshake::{self, aside};
use crate::client::Client;
use crate::client::socket::Socket;
use crate::client::tls_session::{HandshakeOutcome, ServerCertificate, Session};
use crate::client::transport::{CountedIo, Transport};
use crate::request::services::Connection;
use config::Host;
use config::protocols::Protocol;
use tls::clients::ClientCertificate;
use tls::server::{HostTls, Servers};

/// Type of a TLS handshake record, the first byte of every TLS connection.
const HANDSHAKE: u8 = 22;
/// Connection preface of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection that is ready for its first request.
pub enum Negotiated {
    /// HTTP/1.1 or older.
    Http1(Transport),
    /// HTTP/2.
    Http2(Transport),
}

/// Determines the protocol of a new connection.
pub async fn negotiate(connection: &Connection, socket: Socket) -> io::Result<Negotiated> {
    let client = &connection.client;
    let mut line = CountedIo::new(socket, client.clone());
    let config = &client.config;
    let Some(first) = first(client) else { return Ok(Negotiated::Http1(Transport::Plain(line))) };
    if config.speaks_tls(client.local.socket) {
        client.security.begin(first.read_timeouts.handshake);
        if Box::pin(begins_with_handshake(&mut line)).await? {
            return Box::pin(shake_hands(connection, line)).await;
        }
        client.security.give_up();
        return Ok(Negotiated::Http1(Transport::Plain(line)));
    }
    let (h2c, http1) = (first.protocols.has(Protocol::H2c), first.protocols.has(Protocol::Http1));
    let is_http2 = h2c && (!http1 || Box::pin(begins_with_preface(&mut line)).await?);
    let line = Transport::Plain(line);
    Ok(if is_http2 { Negotiated::Http2(line) } else { Negotiated::Http1(line) })
}

/// The first host of the address. Its settings apply until the client has named a host.
fn first(client: &Client) -> Option<&Host> {
    let config = &client.config;
    config.hosts.get(usize::from(config.hosts_at(client.local.socket).next()?))
}

async fn begins_with_handshake(line: &mut CountedIo) -> io::Result<bool> {
    if line.look_ahead().await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.ahead().first() == Some(&HANDSHAKE))
}

/// Reads on only while the bytes are a prefix of the preface.
async fn begins_with_preface(line: &mut CountedIo) -> io::Result<bool> {
    loop {
        let came = line.ahead();
        if came.starts_with(PREFACE) {
            return Ok(true);
        }
        if !PREFACE.starts_with(came) || line.look_ahead().await? == 0 {
            return Ok(false);
        }
    }
}

async fn shake_hands(connection: &Connection, line: CountedIo) -> io::Result<Negotiated> {
    let client = &connection.client;
    let start = LazyConfigAcceptor::new(Acceptor::default(), line).await?;
    let challenge = connection.services.shared.challenges().handshake(&start.client_hello());
    if let Some(challenge) = challenge {
        return answer_challenge(start, challenge).await;
    }
    let name = start.client_hello().server_name().map(str::to_ascii_lowercase);
    // One snapshot of the certificates is used for the whole handshake, even if they are renewed meanwhile.
    let servers = connection.generation.tls();
    let Some((host, server)) = server(client, &servers, name.as_deref()) else {
        return Err(io::Error::other("no host of this address has a certificate"));
    };
    let handshake = server.handshake();
    let requests_certificate = server.clients().is_some();
    let stream = match (requests_certificate, server.signs_slowly()) {
        (true, _) => slow_handshake::finish_aside(start, handshake.config.clone()).await?,
        (false, true) => slow_handshake::finish(start, handshake.config.clone()).await?,
        (false, false) => start.into_stream(handshake.config.clone()).await?,
    };
    let certified = client_certificate(server, stream.get_ref().1.peer_certificates()).await?;
    let is_http2 = match stream.get_ref().1.alpn_protocol() {
        Some(agreed) => agreed == b"h2",
        None => client.config.hosts.get(usize::from(host)).is_some_and(|host| !host.protocols.has(Protocol::Http1)),
    };
    let (variables, key) = (handshake.certificate(), handshake.chain());
    let certificate = ServerCertificate { variables, key, is_fallback: server.is_fallback };
    let outcome = HandshakeOutcome { name, host, asked: requests_certificate, client: certified, certificate };
    client.secured(Session::of(stream.get_ref().1, outcome));
    let line = Transport::Tls(Box::new(stream));
    Ok(if is_http2 { Negotiated::Http2(line) } else { Negotiated::Http1(line) })
}

/// Shows the answer to a challenge in the handshake, after which nothing follows (RFC 8737).
async fn answer_challenge(start: StartHandshake<CountedIo>, challenge: Arc<ServerConfig>) -> io::Result<Negotiated> {
    let mut stream = start.into_stream(challenge).await?;
    stream.shutdown().await?;
    Err(io::Error::other("it was a certificate authority that has read the answer to its challenge"))
}

/// The client's certificate, if the host asks for one. A resumed session has the certificates of its first handshake,
/// which may have been made with other settings, so they are checked again.
async fn client_certificate(
    server: &HostTls,
    sent: Option<&[CertificateDer<'static>]>,
) -> io::Result<Option<ClientCertificate>> {
    let Some(trust) = server.clients() else { return Ok(None) };
    let (chain, theirs) = (sent.unwrap_or_default().to_vec(), trust.clone());
    let found = if chain.is_empty() { None } else { aside(move || ClientCertificate::new(chain, &theirs)).await? };
    match trust.refusal(found.as_ref().map(|client| &client.verdict)) {
        Some(why) => Err(io::Error::new(io::ErrorKind::InvalidData, why)),
        None => Ok(found),
    }
}

/// The host named by SNI and its TLS settings. For an unknown name or a host without a certificate: the first host of
/// the address with one.
fn server<'a>(client: &Client, servers: &'a Servers, name: Option<&str>) -> Option<(u16, &'a HostTls)> {
    let (config, local) = (&client.config, client.local.socket);
    let mut hosts = std::iter::once(config.host(local, name.unwrap_or_default())).chain(config.hosts_at(local));
    hosts.find_map(|host| Some((host, servers.of(host)?)))
}
