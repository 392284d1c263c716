//! TLS handshakes with a slow signature: about 0.6 ms with an RSA key of 2048 bits, 4 ms with 4096. rustls signs while
//! it processes the ClientHello, so that step runs on a compute thread, not on the thread that serves clients. A chain
//! of a client's certificates, which may take longer, is verified there too.
//!
//! ```text
//!   ClientHello ──▶ aside: the flight with the signature ──────────────▶ written, read to the end as any handshake
//!                     └─ HelloRetryRequest ─▶ ClientHello again ─▶ aside ─┘
//! ```

use std::io;
use std::sync::{Arc, LazyLock};

use rustls::server::AcceptedAlert;
use rustls::{HandshakeKind, ServerConfig, ServerConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::{StartHandshake, TlsStream};

use crate::base::blocking;
use crate::client::transport::CountedIo;

/// Limits handshakes on compute threads, so that a flood of them does not delay compression; others wait here. Two for
/// each processor, so that no thread is idle between two.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2 * blocking::processors()));
/// Buffer size for what a client sends after a HelloRetryRequest.
const READ: usize = 4096;

/// Completes the handshake of a client that has sent its ClientHello.
pub async fn finish(start: StartHandshake<CountedIo>, config: Arc<ServerConfig>) -> io::Result<TlsStream<CountedIo>> {
    let (connection, io) = begin(start, config.clone()).await?;
    TlsAcceptor::from(config).accept_with(io, |new| *new = connection).await
}

/// As [`finish`], with each step on a compute thread.
pub async fn finish_aside(
    start: StartHandshake<CountedIo>,
    config: Arc<ServerConfig>,
) -> io::Result<TlsStream<CountedIo>> {
    let (mut connection, mut io) = begin(start, config.clone()).await?;
    while connection.is_handshaking() {
        write(&mut connection, &mut io).await?;
        connection = complete(connection, &mut io).await?;
    }
    TlsAcceptor::from(config).accept_with(io, |new| *new = connection).await
}

/// Makes the flight with the signature.
async fn begin(
    start: StartHandshake<CountedIo>,
    config: Arc<ServerConfig>,
) -> io::Result<(ServerConnection, CountedIo)> {
    let StartHandshake { accepted, mut io, .. } = start;
    let mut connection = match aside(move || accepted.into_connection(config)).await? {
        Ok(connection) => connection,
        Err((error, alert)) => {
            io.write_all(&bytes(alert)?).await?;
            return Err(wrong(error));
        }
    };
    // After a HelloRetryRequest, the signature is made when the client has sent its key share; rustls then wants to
    // write.
    if connection.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest) {
        write(&mut connection, &mut io).await?;
        while !connection.wants_write() {
            connection = complete(connection, &mut io).await?;
        }
    }
    Ok((connection, io))
}

/// Runs `work` on a compute thread, when a turn is free.
pub(super) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let turn = TURNS.acquire().await.map_err(io::Error::other)?;
    let done = blocking::compute(move || {
        let _turn = turn;
        work()
    });
    done.await.map_err(io::Error::other)
}

/// Reads bytes and processes them on a compute thread. Sends the alert if they are invalid.
async fn complete(mut connection: ServerConnection, io: &mut CountedIo) -> io::Result<ServerConnection> {
    let mut came = Vec::with_capacity(READ);
    if io.read_buf(&mut came).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let think = move || {
        let outcome = process(&mut connection, &came);
        (connection, outcome)
    };
    let (mut connection, outcome) = aside(think).await?;
    if outcome.is_err() {
        write(&mut connection, io).await?;
    }
    outcome.map(|()| connection)
}

fn process(connection: &mut ServerConnection, mut came: &[u8]) -> io::Result<()> {
    while !came.is_empty() {
        connection.read_tls(&mut came)?;
        connection.process_new_packets().map_err(wrong)?;
    }
    Ok(())
}

async fn write(connection: &mut ServerConnection, io: &mut CountedIo) -> io::Result<()> {
    let mut bytes = Vec::new();
    while connection.wants_write() {
        connection.write_tls(&mut bytes)?;
    }
    io.write_all(&bytes).await
}

fn bytes(mut alert: AcceptedAlert) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    alert.write_all(&mut bytes)?;
    Ok(bytes)
}

fn wrong(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
