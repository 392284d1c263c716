//! The body of a request on its way to an application, which finds its length in `CONTENT_LENGTH`. A body of unknown
//! length is received whole first, as in httpd.

use std::fs::File;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::TRANSFER_ENCODING;
use http::request::Parts;
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt, Full};

use crate::base::refusal::Refusal;
use crate::request::body::{Body, RequestBody};
use crate::request::context::RequestContext;
use crate::request::proxied::upload::{ProxiedUpload, UploadState};
use crate::request::respond::body::{FileBody, Segment};
use crate::routing::Route;
use proxy::BodyStream;

/// Takes the body of a request. Returns its source, if there is one, and its length.
pub async fn of(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    body: &mut RequestBody,
    state: Rc<UploadState>,
) -> Result<(Option<BodyStream>, u64), Refusal> {
    // A body that a program has received has no source any more, and the length of its source is 0.
    let length = body.exact_length().filter(|_| !body.was_received());
    if let Some(length) = length.filter(|_| !head.headers.contains_key(TRANSFER_ENCODING)) {
        return Ok((ProxiedUpload::of(context, route, body, state)?, length));
    }
    let body = body.receive(context, route).await?;
    let length = body.len();
    let stream: BodyStream = match body {
        Body::Memory(bytes) if bytes.is_empty() => return Ok((None, 0)),
        Body::Memory(bytes) => Box::pin(Full::new(bytes).map_err(|never| match never {})),
        Body::File(file, _) => Box::pin(StoredUpload(stored(file.into_file(), length)?)),
    };
    Ok((Some(stream), length))
}

fn stored(file: io::Result<File>, length: u64) -> Result<FileBody, Refusal> {
    let file = file.map_err(|_| Refusal::busy())?;
    Ok(FileBody::new(Arc::new(file), [Segment::Range { from: 0, to: length }]))
}

struct StoredUpload(FileBody);

impl HttpBody for StoredUpload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
