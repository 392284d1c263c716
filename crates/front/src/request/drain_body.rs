//! Bodies that no program wanted. A small one is read and thrown away, as httpd does, and the connection goes on; with a
//! larger one the connection ends.

use std::time::Duration;

use http::Version;
use http::header::EXPECT;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::body::source::Source;
use super::context::RequestContext;

/// The longest that is read.
const MOST: u64 = 64 * 1024;
/// The client may still be sending it; its answer waits so long.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is left of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// The next request can follow.
    Nothing,
    /// The body lies between this request and the next.
    InTheWay,
    /// More than `LimitRequestBody` allows came.
    TooLarge,
}

/// Makes room on the connection for the next request, if that is worth it. A stream of HTTP/2 is in nobody's way.
pub async fn clear(context: &RequestContext, body: Option<Source>) -> Left {
    match body {
        Some(body @ Source::Http1(_)) if !body.is_end_stream() => {
            if !is_worth_it(context, &body) {
                return Left::InTheWay;
            }
            let limit = context.route.borrow().as_ref().map_or(0, |route| route.settings.limit_request_body);
            let patience = context.generation.config.timeouts.client.min(PATIENCE);
            timeout(patience, drain(body, limit)).await.unwrap_or(Left::InTheWay)
        }
        _ => Left::Nothing,
    }
}

/// A client that waits for `100 Continue` may never send its body, and must not be asked to.
fn is_worth_it(context: &RequestContext, body: &Source) -> bool {
    let waits = context.head.version >= Version::HTTP_11 && context.head.headers.contains_key(EXPECT);
    let goes_on = context.keep_alive().is_on() && context.wants_keep_alive() && !context.client.must_close();
    goes_on && !waits && body.size_hint().lower() <= MOST
}

async fn drain(mut body: Source, limit: u64) -> Left {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        match frame.map(|frame| frame.into_data().unwrap_or_default()) {
            Ok(piece) => length += piece.len() as u64,
            Err(_) => return Left::InTheWay,
        }
        if limit != 0 && length > limit {
            return Left::TooLarge;
        }
        if length > MOST {
            return Left::InTheWay;
        }
    }
    Left::Nothing
}
