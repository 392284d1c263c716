//! HTTP/2 for a load tester, with one or several streams on each connection.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use h2::client::SendRequest;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::EncodedRequest;
use super::connect::ClientStream;
use super::failure::{FailedRequest, FailureCause};
use super::response::{BodySearch, CompleteResponse};
use super::times::Moments;

/// A connection shared by several users.
#[derive(Default)]
pub struct SharedConnection(Mutex<Option<Http2Connection>>);

impl SharedConnection {
    /// The current connection; without one, `open` makes it while the other users wait.
    pub async fn connection(
        &self,
        open: impl Future<Output = Result<Http2Connection, FailedRequest>>,
    ) -> Result<Http2Connection, FailedRequest> {
        let mut kept = self.0.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| connection.is_usable()) {
            return Ok(connection.clone());
        }
        let connection = open.await?;
        *kept = Some(connection.clone());
        Ok(connection)
    }

    /// Makes the next request open a new connection.
    pub async fn forget(&self) {
        self.0.lock().await.take();
    }
}

/// A connection that may be reused.
#[derive(Clone)]
pub struct Http2Connection {
    sender: SendRequest<Bytes>,
    driver: Rc<Driver>,
}

/// The task that reads and writes for a connection; it ends with the connection's last user.
struct Driver {
    task: JoinHandle<()>,
    /// A request failed: the connection is not used again.
    has_failed: Cell<bool>,
}

impl Http2Connection {
    /// Opens an HTTP/2 connection over `stream`.
    pub async fn open(stream: Box<dyn ClientStream>) -> Result<Http2Connection, FailedRequest> {
        let (sender, connection) = h2::client::handshake(stream).await.map_err(|error| failed(&error, false))?;
        let task = tokio::task::spawn_local(async {
            // Errors are ignored, because h2 reports them to the waiting streams.
            let _ = connection.await;
        });
        Ok(Http2Connection { sender, driver: Rc::new(Driver { task, has_failed: Cell::new(false) }) })
    }

    fn is_usable(&self) -> bool {
        !self.driver.has_failed.get() && !self.driver.task.is_finished()
    }

    /// Sends `request` and reads its response; `body` gets each piece of the body.
    pub async fn exchange(
        &self,
        request: &EncodedRequest,
        body: &mut BodySearch<'_>,
    ) -> Result<CompleteResponse, FailedRequest> {
        let mut end = Exchange { driver: &self.driver, is_whole: false };
        let (head, content) =
            request.in_http2().map_err(|error| FailedRequest::new(FailureCause::Malformed, error.to_string()))?;
        let mut sender = self.sender.clone().ready().await.map_err(|error| failed(&error, false))?;
        let (response, mut stream) =
            sender.send_request(head, content.is_empty()).map_err(|error| failed(&error, false))?;
        if !content.is_empty() {
            // h2 buffers the content until the server's window has room.
            stream.send_data(content, true).map_err(|error| failed(&error, false))?;
        }
        let sent = Instant::now();
        let response = response.await.map_err(|error| failed(&error, false))?;
        let moments = Moments { sent, first: Instant::now() };
        let status = response.status().as_u16();
        let received = read(response.into_body(), body).await?;
        end.is_whole = true;
        Ok(CompleteResponse { status, received, moments })
    }
}

/// An exchange; dropped early when its timeout expires.
struct Exchange<'d> {
    driver: &'d Driver,
    is_whole: bool,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            self.driver.has_failed.set(true);
        }
    }
}

async fn read(mut stream: h2::RecvStream, body: &mut BodySearch<'_>) -> Result<u64, FailedRequest> {
    let mut received = 0;
    while let Some(piece) = stream.data().await {
        let piece = piece.map_err(|error| failed(&error, true))?;
        received += piece.len() as u64;
        body.see(&piece);
        stream.flow_control().release_capacity(piece.len()).map_err(|error| failed(&error, true))?;
    }
    Ok(received)
}

fn failed(error: &h2::Error, began: bool) -> FailedRequest {
    let is_the_connection = error.is_io() || error.is_reset() || error.is_go_away();
    let cause = match (is_the_connection, began) {
        (true, true) => FailureCause::Truncated,
        (true, false) => FailureCause::Reset,
        (false, _) => FailureCause::Malformed,
    };
    FailedRequest::new(cause, error.to_string())
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.task.abort();
    }
}
