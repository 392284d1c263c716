//! Answers that pass filters on their way. What a program prints is gathered in its record, and goes through the filters, which are
//! Perl code, when that is worth a call, when somebody flushes, and at the end; what comes out of them is the answer.
//!
//! ```text
//!   $r->print ──▶ record.unfiltered ──▶ Engine::filter ──▶ Cameleer::Filters ──▶ written ──▶ record.output ──▶ the wire
//! ```
//!
//! A record without filters costs one comparison. No record is borrowed while filters run.

use crate::engine::{PieceEnd, engine};
use crate::output::{Filtering, Stage};
use crate::request_rec::RequestRec;
use crate::request_rec::tables::Id;
use crate::request_stack::{Stale, flush_answer, generation, speaking, with, with_stack};

/// As many bytes are worth a call, as in mod_perl 2: filters see the same pieces.
const PIECE: usize = 8 * 1024;

impl RequestRec {
    /// Enough has been gathered for a call.
    fn has_piece(&self) -> bool {
        self.filtering == Filtering::On && self.output.unfiltered.len() >= PIECE
    }

    /// Nothing has been gathered, and this alone is enough: it need not be.
    fn is_piece(&self, bytes: &[u8]) -> bool {
        let is_first = self.output.unfiltered.is_empty() && !self.begins_with_header(bytes);
        let is_heard = !self.output.is_in_vain() && !matches!(self.output.stage, Stage::Script);
        bytes.len() >= PIECE && self.filtering == Filtering::On && is_first && is_heard
    }

    /// Takes what is to be filtered. From now on the head is the filters' business, and a length that was said before is none any more.
    fn begin_filtering(&mut self) -> Option<Vec<u8>> {
        if self.filtering != Filtering::On || self.output.is_deaf() || matches!(self.output.stage, Stage::Script) {
            return None;
        }
        self.filtering = Filtering::Passing;
        self.output.header_was_said = true;
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

    /// A Content-Length that the program said, and no filter another one: of what was said before them.
    pub fn is_stale_length(&self, name: &[u8], value: &[u8]) -> bool {
        let before = self.length_before_filters.as_ref().and_then(Option::as_deref);
        before == Some(value) && name.eq_ignore_ascii_case(CONTENT_LENGTH)
    }
}

const CONTENT_LENGTH: &[u8] = b"Content-Length";

/// From now on what the request's program says passes filters.
pub fn filter_answer(request: u64) {
    let _ = with(request, |r| {
        if r.filtering == Filtering::Off && !r.output.has_left() {
            r.filtering = Filtering::On;
        }
    });
}

/// From now on what is read of the request's body passes filters.
pub(crate) fn filter_body(request: u64) -> Result<(), Stale> {
    with(request, |r| r.filters_body = true)
}

/// Whether there is a body that does.
pub fn has_filtered_body(request: u64) -> bool {
    with(request, |r| r.filters_body && r.body_length() > 0).unwrap_or(false)
}

/// Whether what the program says does.
pub fn is_filtered(request: u64) -> bool {
    with(request, |r| r.filtering == Filtering::On).unwrap_or(false)
}

/// The program has said all of its answer, and `said` with its last word: the filters may add something. The end comes by itself, behind
/// what is left. Nothing happens where a page for a status is the answer, or the answer is not this record's.
pub fn end_filtered_answer(request: u64, said: i32) {
    if with(request, |r| r.filtering == Filtering::On && r.will_answer(said)).unwrap_or(false) {
        pass_what_was_said(request);
        filter(request, PieceEnd::Eos);
    }
}

/// What was said so far passes the filters before another request goes on with the answer.
pub fn pass_what_was_said(request: u64) {
    if with(request, |r| r.filtering == Filtering::On && !r.output.unfiltered.is_empty()).unwrap_or(false) {
        filter(request, PieceEnd::More);
    }
}

/// The last piece of an answer that the server makes itself: a file.
pub fn end_filtered_file(request: u64, piece: &[u8]) {
    if with(request, |r| r.write(piece)).is_ok() {
        filter(request, PieceEnd::Eos);
    }
}

/// Output of the program: what it printed, or a part of the response's body.
pub fn output(bytes: &[u8]) {
    let _ = write(generation(), bytes);
}

/// What was said so far leaves now. STDOUT is also flushed when nothing is there: that is nothing to tell filters.
pub fn flush() {
    let request = generation();
    let has_nothing = with(request, |r| r.filtering == Filtering::On && r.output.unfiltered.is_empty());
    if !has_nothing.unwrap_or(true) {
        let _ = flush_record(request);
    }
}

/// A piece of a program's output; says whether its filters have failed.
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

/// What was said so far leaves; says whether its filters have failed.
pub(crate) fn flush_record(request: u64) -> Result<bool, Stale> {
    if with(request, |r| r.filtering == Filtering::On)? {
        filter(request, PieceEnd::Flush);
        return has_failed(request);
    }
    flush_answer(request)?;
    Ok(false)
}

fn has_failed(request: u64) -> Result<bool, Stale> {
    with(request, |r| r.filtering != Filtering::Off && r.output.failed.is_some())
}

fn filter(request: u64, end: PieceEnd) {
    pass(request, None, end);
}

/// Has the filters see `bytes`, or what has been gathered.
fn pass(request: u64, bytes: Option<&[u8]>, end: PieceEnd) {
    let Ok(Some(gathered)) = with(request, RequestRec::begin_filtering) else { return };
    engine(|engine| engine.filter(request, bytes.unwrap_or(&gathered), end));
    let _ = with_stack(|stack| {
        let at = stack.at(request)?;
        stack.speak(at, |r| r.has_filtered(gathered, end))
    });
}

/// What has come out of the last filter.
pub(crate) fn written(request: u64, bytes: &[u8]) -> Result<(), Stale> {
    speaking(request, |r| r.write_filtered(bytes))
}

/// A filter did not do its work: nothing more goes out.
pub(crate) fn failed(request: u64, status: u16) -> Result<(), Stale> {
    with(request, |r| {
        r.output.failed = r.output.failed.or(Some(status));
    })
}
