//! A body that is read from a file as it is sent.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use bytes::Bytes;

use super::PIECE;

/// Parts of a file with text between them (multipart ranges), or one part without.
pub struct FileBody {
    file: File,
    segments: VecDeque<Segment>,
    /// How much of all segments was not taken yet.
    pub(super) left: u64,
}

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
    pub fn new(file: File, segments: impl Into<VecDeque<Segment>>) -> FileBody {
        let segments = segments.into();
        let left = segments.iter().map(Segment::len).sum();
        FileBody { file, segments, left }
    }

    /// How much of it is still to come.
    pub fn length(&self) -> u64 {
        self.left
    }

    /// The next piece; a file that has become shorter is an error, so that the client can see it.
    pub fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Some(segment) = self.segments.pop_front() else { return Ok(None) };
        let bytes = match segment {
            Segment::Text(bytes) => bytes,
            Segment::Range { from, to } => {
                let mut piece = vec![0; (to - from).min(PIECE as u64) as usize];
                self.file.read_exact_at(&mut piece, from)?;
                let next = from + piece.len() as u64;
                if next < to {
                    self.segments.push_front(Segment::Range { from: next, to });
                }
                Bytes::from(piece)
            }
        };
        self.left -= bytes.len() as u64;
        Ok(Some(bytes))
    }
}

impl Segment {
    fn len(&self) -> u64 {
        match self {
            Segment::Text(bytes) => bytes.len() as u64,
            Segment::Range { from, to } => to - from,
        }
    }
}
