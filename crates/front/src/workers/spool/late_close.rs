//! A file whose last close may block on the disk.

use std::fs::File;
use std::io;

use crate::base::blocking;

/// A request body in an unlinked file, or a socket. The close of the last descriptor of a large file takes time,
/// because it frees the blocks, so another thread closes it.
#[derive(Debug)]
pub struct LateClose(Option<File>);

impl LateClose {
    /// The open file; `None` once another thread closes it.
    pub fn get(&self) -> Option<&File> {
        self.0.as_ref()
    }

    pub fn get_mut(&mut self) -> io::Result<&mut File> {
        self.0.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The file, which its new owner closes.
    pub fn into_file(mut self) -> io::Result<File> {
        self.0.take().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl From<File> for LateClose {
    fn from(file: File) -> LateClose {
        LateClose(Some(file))
    }
}

impl Drop for LateClose {
    fn drop(&mut self) {
        let file = self.0.take().filter(|file| file.metadata().is_ok_and(|it| it.is_file() && it.len() > 0));
        file.into_iter().for_each(blocking::drop_aside);
    }
}
