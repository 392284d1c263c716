//! HTTP/2 as a load tester speaks it: one stream at a time on each connection.

use bytes::Bytes;
use h2::client::SendRequest;
use tokio::task::JoinHandle;

use super::Request;
use super::answer::{Answer, Body};
use super::connect::Stream;
use super::failure::{Cause, Failure};

/// A connection that may be used again.
pub struct Connection {
    sender: SendRequest<Bytes>,
    /// What reads and writes for it.
    driver: JoinHandle<()>,
    is_over: bool,
}

impl Connection {
    /// Speaks HTTP/2 on `stream`.
    pub async fn open(stream: Box<dyn Stream>) -> Result<Connection, Failure> {
        let (sender, connection) = h2::client::handshake(stream).await.map_err(|error| failed(&error, false))?;
        let driver = tokio::task::spawn_local(async {
            // What goes wrong is told to the stream that waits.
            let _ = connection.await;
        });
        Ok(Connection { sender, driver, is_over: false })
    }

    /// Whether the server takes another request.
    pub fn is_usable(&self) -> bool {
        !self.is_over && !self.driver.is_finished()
    }

    /// Sends `request` and reads its answer, of which `body` is shown each piece.
    pub async fn exchange(&mut self, request: &Request, body: &mut Body<'_>) -> Result<Answer, Failure> {
        self.is_over = true;
        let (head, content) = request.in_http2().map_err(|error| Failure::new(Cause::Malformed, error.to_string()))?;
        let mut sender = self.sender.clone().ready().await.map_err(|error| failed(&error, false))?;
        let (response, mut stream) =
            sender.send_request(head, content.is_empty()).map_err(|error| failed(&error, false))?;
        if !content.is_empty() {
            // h2 keeps it until the server's window has room.
            stream.send_data(content, true).map_err(|error| failed(&error, false))?;
        }
        let response = response.await.map_err(|error| failed(&error, false))?;
        let status = response.status().as_u16();
        let received = read(response.into_body(), body).await?;
        self.is_over = false;
        Ok(Answer { status, received })
    }
}

async fn read(mut stream: h2::RecvStream, body: &mut Body<'_>) -> Result<u64, Failure> {
    let mut received = 0;
    while let Some(piece) = stream.data().await {
        let piece = piece.map_err(|error| failed(&error, true))?;
        received += piece.len() as u64;
        body.see(&piece);
        stream.flow_control().release_capacity(piece.len()).map_err(|error| failed(&error, true))?;
    }
    Ok(received)
}

fn failed(error: &h2::Error, began: bool) -> Failure {
    let is_the_connection = error.is_io() || error.is_reset() || error.is_go_away();
    let cause = match (is_the_connection, began) {
        (true, true) => Cause::Truncated,
        (true, false) => Cause::Reset,
        (false, _) => Cause::Malformed,
    };
    Failure::new(cause, error.to_string())
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
