//! Response filters. Printed output is buffered in its record. The filters, which are Perl code, get it when
//! the buffer is full, when the program flushes, and at the end; their output is the response.
//!
//! ```text
//!   $r->print ──▶ record.unfiltered ──▶ Engine::filter ──▶ Cameleer::Filters ──▶ written ──▶ record.output ──▶ the wire
//! ```
//!
//! A record without filters costs one comparison. No record is borrowed while filters run.

use crate::engine::{PieceEnd, engine};
use crate::output::{Filtering, ResponseStage};
use crate::request_rec::RequestRec;
use crate::request_rec::tables::Id;
use crate::request_stack::{Stale, flush_response, record_number, speaking, with, with_stack};

/// Bytes that are worth a call of the filters; mod_perl 2 passes pieces of the same size.
const PIECE: usize = 8 * 1024;

impl RequestRec {
    /// Whether the buffer is full.
    fn has_piece(&self) -> bool {
        self.filtering == Filtering::On && self.output.unfiltered.len() >= PIECE
    }

    /// Whether `bytes` alone are worth a call while the buffer is empty, so that buffering them is unnecessary.
    fn is_piece(&self, bytes: &[u8]) -> bool {
        let is_first = self.output.unfiltered.is_empty() && !self.begins_with_header(bytes);
        let is_heard = !self.output.drops_body() && !matches!(self.output.stage, ResponseStage::Script);
        bytes.len() >= PIECE && self.filtering == Filtering::On && is_first && is_heard
    }

    /// Takes the buffered output for the filters, which may change the head from now on. A Content-Length set earlier
    /// is marked as stale.
    fn begin_filtering(&mut self) -> Option<Vec<u8>> {
        if self.filtering != Filtering::On
            || self.output.drops_output()
            || matches!(self.output.stage, ResponseStage::Script)
        {
            return None;
        }
        self.filtering = Filtering::Passing;
        self.output.sent_header = true;
        self.status = self.status_for_filters.take().unwrap_or(self.status);
        if self.length_before_filters.is_none() {
            let length = self.tables.of(Id::HeadersOut).get(CONTENT_LENGTH);
            self.length_before_filters = Some(length.map(<[u8]>::to_vec));
        }
        Some(std::mem::take(&mut self.output.unfiltered))
    }

    fn has_filtered(&mut self, mut piece: Vec<u8>, end: PieceEnd) {
        if end != PieceEnd::Eos {
            self.filtering = Filtering::On;
        }
        if self.output.unfiltered.is_empty() {
            piece.clear();
            self.output.unfiltered = piece;
        }
    }

    /// Whether a Content-Length was set before the filters began, and not by a filter: it describes the
    /// unfiltered body.
    pub fn is_stale_length(&self, name: &[u8], value: &[u8]) -> bool {
        let before = self.length_before_filters.as_ref().and_then(Option::as_deref);
        before == Some(value) && name.eq_ignore_ascii_case(CONTENT_LENGTH)
    }
}

const CONTENT_LENGTH: &[u8] = b"Content-Length";

/// Starts to filter the output of the request's handlers.
pub fn filter_response(request: u64) {
    let _ = with(request, |r| {
        if r.filtering == Filtering::Off && !r.output.has_left() {
            r.filtering = Filtering::On;
        }
    });
}

/// Starts to filter the request's body as it is read.
pub(crate) fn filter_body(request: u64) -> Result<(), Stale> {
    with(request, |r| r.filters_body = true)
}

/// Input filters changed the body, and it is not empty.
pub fn has_filtered_body(request: u64) -> bool {
    with(request, |r| r.filters_body && r.body_length() > 0).unwrap_or(false)
}

/// Whether the request's response is filtered.
pub fn is_filtered(request: u64) -> bool {
    with(request, |r| r.filtering == Filtering::On).unwrap_or(false)
}

/// Passes the end of a response to its filters, which may add output. `status` is the return value of the last handler.
/// Does nothing when the response is an error page, or when another record responds.
pub fn end_filtered_response(request: u64, status: i32) {
    if with(request, |r| r.filtering == Filtering::On && r.will_answer(status)).unwrap_or(false) {
        pass_printed(request);
        filter(request, PieceEnd::Eos);
    }
}

/// Passes buffered output to the filters before another request continues the response.
pub fn pass_printed(request: u64) {
    if with(request, |r| r.filtering == Filtering::On && !r.output.unfiltered.is_empty()).unwrap_or(false) {
        filter(request, PieceEnd::More);
    }
}

/// Passes the last piece of a response that the server makes itself, such as a file.
pub fn end_filtered_file(request: u64, piece: &[u8]) {
    if with(request, |r| r.write(piece)).is_ok() {
        filter(request, PieceEnd::Eos);
    }
}

/// Output of the program: printed text, or a piece of a PSGI body.
pub fn output(bytes: &[u8]) {
    let _ = write(record_number(), bytes);
}

/// Flushes the response. Perl flushes STDOUT even when the buffer is empty; filters do not see such a flush.
pub fn flush() {
    let request = record_number();
    let has_nothing = with(request, |r| r.filtering == Filtering::On && r.output.unfiltered.is_empty());
    if !has_nothing.unwrap_or(true) {
        let _ = flush_record(request);
    }
}

/// Writes a piece of a program's output. Returns whether a filter has failed.
pub(crate) fn write(request: u64, bytes: &[u8]) -> Result<bool, Stale> {
    if with(request, |r| r.is_piece(bytes))? {
        pass(request, Some(bytes), PieceEnd::More);
        return has_failed(request);
    }
    let has_piece = speaking(request, |r| {
        r.write(bytes);
        r.has_piece()
    })?;
    if has_piece {
        filter(request, PieceEnd::More);
    }
    has_failed(request)
}

/// Flushes a record's output. Returns whether a filter has failed.
pub(crate) fn flush_record(request: u64) -> Result<bool, Stale> {
    if with(request, |r| r.filtering == Filtering::On)? {
        filter(request, PieceEnd::Flush);
        return has_failed(request);
    }
    flush_response(request)?;
    Ok(false)
}

fn has_failed(request: u64) -> Result<bool, Stale> {
    with(request, |r| r.filtering != Filtering::Off && r.output.failed.is_some())
}

fn filter(request: u64, end: PieceEnd) {
    pass(request, None, end);
}

/// Passes `bytes`, or else the buffered output, to the filters.
fn pass(request: u64, bytes: Option<&[u8]>, end: PieceEnd) {
    let Ok(Some(gathered)) = with(request, RequestRec::begin_filtering) else { return };
    engine(|engine| engine.filter(request, bytes.unwrap_or(&gathered), end));
    let _ = with_stack(|stack| {
        let at = stack.at(request)?;
        stack.speak(at, |r| r.has_filtered(gathered, end))
    });
}

/// Writes the output of the last filter.
pub(crate) fn written(request: u64, bytes: &[u8]) -> Result<(), Stale> {
    speaking(request, |r| r.write_filtered(bytes))
}

/// Records that a filter failed: no further output is sent.
pub(crate) fn failed(request: u64, status: u16) -> Result<(), Stale> {
    with(request, |r| {
        r.output.failed = r.output.failed.or(Some(status));
    })
}
