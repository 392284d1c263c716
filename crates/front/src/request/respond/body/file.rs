//! A body that is read from a file as it is sent. What the kernel has in memory is read at once; for the rest another thread
//! waits for the disk, so that the one that has the clients never does.

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

/// Parts of a file with text between them (multipart ranges), or one part without.
pub struct FileBody {
    file: Arc<File>,
    segments: VecDeque<Segment>,
    /// How much of all segments was not taken yet.
    pub(super) left: u64,
    /// The piece that another thread reads.
    coming: Option<Coming>,
}

type Coming = Pin<Box<dyn Future<Output = Result<io::Result<Bytes>, NoThread>> + Send>>;

/// A stretch of a file's body.
#[derive(Debug, PartialEq, Eq)]
pub enum Segment {
    /// Between parts of the file: heads of a multipart answer.
    Text(Bytes),
    Range {
        /// First byte.
        from: u64,
        /// One after the last.
        to: u64,
    },
}

impl FileBody {
    /// These parts of `file`.
    pub fn new(file: Arc<File>, segments: impl Into<VecDeque<Segment>>) -> FileBody {
        let segments = segments.into();
        let left = segments.iter().map(Segment::len).sum();
        FileBody { file, segments, left, coming: None }
    }

    /// A whole file that nobody else has.
    pub fn all(file: File, length: u64) -> BodySource {
        BodySource::File(FileBody::new(Arc::new(file), [Segment::Range { from: 0, to: length }]))
    }

    /// How much of it is still to come.
    pub fn length(&self) -> u64 {
        self.left
    }

    /// A short one is read now if it is in memory, so that it leaves in one packet with its head.
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

    /// The next piece; a file that has become shorter is an error, so that the client can see it.
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

    /// All of it.
    pub async fn whole(mut self) -> io::Result<Bytes> {
        let mut whole = Vec::with_capacity(self.left as usize);
        while let Some(piece) = poll_fn(|cx| self.poll(cx)).await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole.into())
    }

    /// The next piece on a thread that may wait for the disk.
    pub fn next(&mut self) -> io::Result<Option<Bytes>> {
        self.next_with(read)
    }

    /// The next piece, by a function that reads so many bytes from there on. When that fails, nothing has been taken.
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
