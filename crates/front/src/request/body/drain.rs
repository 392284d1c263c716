//! Request bodies that no program read. A small body is read and discarded, as in httpd, and the connection stays
//! open. A larger body closes the connection.

use std::time::Duration;

use http::Version;
use http::header::EXPECT;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::RequestBody;
use super::source::Source;
use crate::request::context::RequestContext;

/// The longest body that is read and discarded, in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// Maximum time to wait for the rest of the body; the response is delayed meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of the connection after the discarded body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrainOutcome {
    /// The next request can follow.
    Nothing,
    /// The unread body blocks the connection for further requests.
    InTheWay,
    /// The body exceeded `LimitRequestBody`.
    TooLarge,
}

impl RequestBody {
    /// Reads and discards a body that nobody received, if that is worthwhile. An HTTP/2 body blocks no other request.
    pub async fn drain(self, context: &RequestContext) -> DrainOutcome {
        match self.source {
            Some(body @ Source::Http1(_)) if !body.is_end_stream() => {
                if !is_worth_it(context, &body) {
                    return DrainOutcome::InTheWay;
                }
                let limit = context.route().as_ref().map_or(0, |route| route.settings.limit_request_body);
                let patience = context.client.timeout.get().min(PATIENCE);
                Box::pin(timeout(patience, drain(body, limit))).await.unwrap_or(DrainOutcome::InTheWay)
            }
            _ => DrainOutcome::Nothing,
        }
    }
}

/// Whether the body should be read. A client that waits for `100 Continue` may never send it, and must not be asked to.
fn is_worth_it(context: &RequestContext, body: &Source) -> bool {
    let waits = context.head.version >= Version::HTTP_11 && context.head.headers.contains_key(EXPECT);
    let goes_on = context.keep_alive().is_on() && context.wants_keep_alive() && !context.client.must_close();
    goes_on && !waits && body.size_hint().lower() <= MAX_BYTES
}

async fn drain(mut body: Source, limit: u64) -> DrainOutcome {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        match frame.map(|frame| frame.into_data().unwrap_or_default()) {
            Ok(piece) => length += piece.len() as u64,
            Err(_) => return DrainOutcome::InTheWay,
        }
        if limit != 0 && length > limit {
            return DrainOutcome::TooLarge;
        }
        if length > MAX_BYTES {
            return DrainOutcome::InTheWay;
        }
    }
    DrainOutcome::Nothing
}
