//! Compressed messages (RFC 7692, section 7.2). Each message is compressed on its own.

use bytes::BytesMut;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::extension::MessageDeflate;
use crate::failure::WebSocketError;

/// The end of each compressed message, which is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Output is produced in pieces of this many bytes, so that its limit is checked before more memory is used.
const PIECE_BYTES: usize = 4096;

/// Decompresses one message.
pub struct MessageInflater {
    stream: Decompress,
}

impl Default for MessageInflater {
    fn default() -> MessageInflater {
        MessageInflater { stream: Decompress::new(false) }
    }
}

impl MessageInflater {
    /// Appends the content of a piece. Calls `check` with each piece of output.
    ///
    /// # Errors
    /// For data that are not compressed, and those of `check`.
    pub fn push(
        &mut self,
        mut piece: &[u8],
        output: &mut BytesMut,
        mut check: impl FnMut(&BytesMut, usize) -> Result<(), WebSocketError>,
    ) -> Result<(), WebSocketError> {
        let mut room = [0; PIECE_BYTES];
        loop {
            let (read, written) = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(piece, &mut room, FlushDecompress::Sync);
            let read = (self.stream.total_in() - read) as usize;
            let written = (self.stream.total_out() - written) as usize;
            piece = piece.get(read..).unwrap_or_default();
            output.extend_from_slice(room.get(..written).unwrap_or_default());
            // What precedes invalid data is checked first, as if it had come alone.
            check(output, output.len() - written)?;
            match status.map_err(|_| WebSocketError::Compressed)? {
                // A final block may end a message before its last byte (section 7.2.3.4).
                Status::StreamEnd => self.stream.reset(false),
                _ if read == 0 && written == 0 && !piece.is_empty() => return Err(WebSocketError::Compressed),
                _ => {}
            }
            if piece.is_empty() && written < PIECE_BYTES {
                return Ok(());
            }
        }
    }

    /// Makes this ready for another message.
    pub fn reset(&mut self) {
        self.stream.reset(false);
    }

    /// The bytes to decompress behind a message's last piece.
    pub fn tail() -> &'static [u8] {
        &TAIL
    }
}

/// The message compressed, if that makes it shorter.
pub fn deflated(payload: &[u8], parameters: &MessageDeflate) -> Option<Vec<u8>> {
    let mut stream = Compress::new_with_window_bits(Compression::fast(), false, parameters.window_bits());
    let mut output = Vec::with_capacity(payload.len());
    while output.len() < output.capacity() {
        let read = stream.total_in() as usize;
        let status = stream.compress_vec(payload.get(read..)?, &mut output, FlushCompress::Sync).ok()?;
        if status != Status::Ok || stream.total_in() as usize == payload.len() && output.len() < output.capacity() {
            break;
        }
    }
    let length = output.len().checked_sub(TAIL.len())?;
    let is_whole = stream.total_in() as usize == payload.len() && output.ends_with(&TAIL);
    output.truncate(length);
    is_whole.then_some(output)
}
