//! The Trans phase, begun and ended by the worker.

use crate::request_rec::target::Target;
use crate::request_rec::translation::Translation;
use crate::request_stack::with;

/// The Trans phase begins: until it ends there is a file only when a handler names it.
pub fn begin_translation(request: u64) {
    let _ = with(request, |r| {
        r.translation = Translation::Pending;
        r.forget_file();
    });
}

/// It has ended, and the file is the one that the record was made for.
pub fn end_translation(request: u64) {
    let _ = with(request, |r| r.translated(Translation::Done));
}

/// The request is for something else than its URI said.
pub fn retarget(request: u64, to: &Target) {
    let _ = with(request, |r| r.lead_to(to, Translation::Done));
}

/// The same, and there is no file.
pub fn without_file(request: u64, path: &[u8], query: &[u8]) {
    let to = Target { path: path.to_vec(), query: query.to_vec(), ..Target::default() };
    let _ = with(request, |r| r.lead_to(&to, Translation::FileLess));
}
