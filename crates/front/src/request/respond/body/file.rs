//! A body that is read from a file while it is sent. Cached data is read at once; otherwise another thread reads, so
//! that the event thread never blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::BodySource;
use crate::base::blocking::{self, NoThread};
use crate::base::pieces::{PIECE, read, read_from_memory};

/// Ranges of a file, with text between them in a multipart response.
pub struct FileBody {
    file: Arc<File>,
    segments: VecDeque<Segment>,
    /// Number of bytes in all segments that were not yet read.
    pub(super) left: u64,
    /// The pending read on another thread.
    coming: Option<Coming>,
}

type Coming = Pin<Box<dyn Future<Output = Result<io::Result<Bytes>, NoThread>> + Send>>;

/// A section of a file's body.
#[derive(Debug, PartialEq, Eq)]
pub enum Segment {
    /// Text between ranges: the part headers of a multipart response.
    Text(Bytes),
    Range {
        /// First byte.
        from: u64,
        /// The position behind the last byte.
        to: u64,
    },
}

impl FileBody {
    /// A body that consists of these segments of `file`.
    pub fn new(file: Arc<File>, segments: impl Into<VecDeque<Segment>>) -> FileBody {
        let segments = segments.into();
        let left = segments.iter().map(Segment::len).sum();
        FileBody { file, segments, left, coming: None }
    }

    /// A body of a whole file that is not shared.
    pub fn all(file: File, length: u64) -> BodySource {
        BodySource::File(FileBody::new(Arc::new(file), [Segment::Range { from: 0, to: length }]))
    }

    /// Number of bytes that are still to come.
    pub fn length(&self) -> u64 {
        self.left
    }

    /// Reads a short body now if it is cached, so that it leaves in one packet with the response's head.
    pub fn into_source(mut self) -> io::Result<BodySource> {
        if self.left > PIECE as u64 || self.segments.len() > 1 {
            return Ok(BodySource::File(self));
        }
        match self.next_with(read_from_memory) {
            Ok(piece) => Ok(BodySource::whole(piece.unwrap_or_default())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(BodySource::File(self)),
            Err(error) => Err(error),
        }
    }

    /// The next piece. A file that has become shorter is an error, so that the client notices the truncation.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.coming.is_none() {
            match self.next_with(read_from_memory) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.coming = self.read_aside(),
                known => return Poll::Ready(known.transpose()),
            }
        }
        let Some(coming) = &mut self.coming else { return Poll::Ready(None) };
        let read = ready!(coming.as_mut().poll(cx)).unwrap_or_else(|_| Err(ErrorKind::OutOfMemory.into()));
        self.coming = None;
        Poll::Ready(self.next_with(|_, _, _| read).transpose())
    }

    pub async fn whole(mut self) -> io::Result<Bytes> {
        let mut whole = Vec::with_capacity(self.left as usize);
        while let Some(piece) = poll_fn(|cx| self.poll(cx)).await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole.into())
    }

    /// The next piece; call it on a thread that may block on the disk.
    pub fn next(&mut self) -> io::Result<Option<Bytes>> {
        self.next_with(read)
    }

    /// The next piece, read by `read` (file, offset, length). If `read` fails, the segments are unchanged.
    fn next_with(&mut self, read: impl FnOnce(&File, u64, usize) -> io::Result<Bytes>) -> io::Result<Option<Bytes>> {
        let bytes = match self.segments.front_mut() {
            None => return Ok(None),
            Some(Segment::Text(bytes)) => std::mem::take(bytes),
            Some(Segment::Range { from, to }) => {
                let piece = read(&self.file, *from, piece_of(*from, *to))?;
                *from += piece.len() as u64;
                piece
            }
        };
        if self.segments.front().is_some_and(|segment| segment.len() == 0) {
            self.segments.pop_front();
        }
        self.left = self.left.saturating_sub(bytes.len() as u64);
        Ok(Some(bytes))
    }

    fn read_aside(&self) -> Option<Coming> {
        let Some(Segment::Range { from, to }) = self.segments.front() else { return None };
        let (file, from, length) = (self.file.clone(), *from, piece_of(*from, *to));
        Some(Box::pin(blocking::run("read a file", move || read(&file, from, length))))
    }
}

/// The length of the next piece of this range.
fn piece_of(from: u64, to: u64) -> usize {
    (to - from).min(PIECE as u64) as usize
}

impl Segment {
    fn len(&self) -> u64 {
        match self {
            Segment::Text(bytes) => bytes.len() as u64,
            Segment::Range { from, to } => to - from,
        }
    }
}
