//! Bodies that nobody wanted. What is small is read and thrown away, as httpd does, and the connection goes on; of the
//! others the answer says that it is the last.

use std::time::Duration;

use http::Version;
use http::header::EXPECT;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::record::Record;
use super::source::Source;

/// The longest that is read.
const MOST: u64 = 64 * 1024;
/// The client may still be sending it; its answer waits so long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the next request can follow on the connection. A stream of HTTP/2 is in nobody's way.
pub async fn is_out_of_the_way(visit: &Record, body: Option<Source>) -> bool {
    match body {
        Some(body @ Source::Http1(_)) if !body.is_end_stream() => {
            is_worth_it(visit, &body)
                && timeout(visit.site.config.timeouts.client.min(PATIENCE), drain(body)).await.unwrap_or(false)
        }
        _ => true,
    }
}

/// A client that waits for a word (100-continue) may never send it, and must not be asked to.
fn is_worth_it(visit: &Record, body: &Source) -> bool {
    let waits = visit.head.version >= Version::HTTP_11 && visit.head.headers.contains_key(EXPECT);
    let goes_on = visit.keep_alive().is_on() && visit.wants_keep_alive() && !visit.client.must_close();
    goes_on && !waits && body.size_hint().lower() <= MOST
}

async fn drain(mut body: Source) -> bool {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        match frame.map(|frame| frame.into_data().unwrap_or_default()) {
            Ok(piece) => length += piece.len() as u64,
            Err(_) => return false,
        }
        if length > MOST {
            return false;
        }
    }
    true
}
