//! Beginning and end of the Trans phase, called by the worker.

use crate::request_rec::target::InternalTarget;
use crate::request_rec::translation::Translation;
use crate::request_stack::with;

/// Begins the Trans phase: until it ends, only a handler's file counts.
pub fn begin_translation(request: u64) {
    let _ = with(request, |r| {
        r.translation = Translation::Pending;
        r.forget_file();
    });
}

/// Ends the Trans phase; the file is the frame's.
pub fn end_translation(request: u64) {
    let _ = with(request, |r| r.translated(Translation::Done));
}

/// Changes the record's target.
pub fn retarget(request: u64, to: &InternalTarget) {
    let _ = with(request, |r| r.lead_to(to, Translation::Done));
}

/// Changes the record's target to a path without a file.
pub fn without_file(request: u64, path: &[u8], query: &[u8]) {
    let to = InternalTarget { path: path.to_vec(), query: query.to_vec(), ..InternalTarget::default() };
    let _ = with(request, |r| r.lead_to(&to, Translation::FileLess));
}
