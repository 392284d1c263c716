//! The Rust half of the `Apache::` API: the request record of mod_perl 1.x, without Perl.
//!
//! ```text
//!   worker ──▶ begin ──────────────▶ RequestRec ◀── exports (C ABI) ◀── perl/lib/**/*.xs ◀── $r->…
//!          ──▶ psgi_env ───────────▶     │      ◀── output ◀── STDOUT's layer
//!          ──▶ outcome, finish ────▶     └──▶ Client::send ──▶ the wire
//!          ◀── Engine ◀──────────── $r->lookup_uri, internal_redirect
//! ```
//!
//! One client's request is current at a time, with those that it led to, and none is borrowed while Perl runs. Unsafe code is in `exports` alone.

pub use form::urlencoded::{path_encoded, percent_decoded};

// What the configuration says of a place.
mod place;
pub use place::{Logged, OPT_EXECCGI, Place, Requirement, Satisfies, TypeOf};

// Lines for the error log.
mod log;
pub use log::{Context, Level, complain, log_to, on_level, say};

// `$r`.
mod request_rec;
pub use request_rec::environment::{Api, api, speak};
pub use request_rec::handler_stacks::Stack;
pub use request_rec::target::Target;
pub use request_rec::{Ended, Finished, Incoming};

// All records of the request that this process answers.
mod request_stack;
pub use request_stack::{
    begin, cgi_env, child_terminate, end, finish, generation, leave_after, psgi_env, run, servers, tell_parts,
    version_components, want_cleanup,
};

// `%ENV` beside `$r->subprocess_env`.
mod tied_env;
pub use tied_env::{keep as keep_env, tie as tie_env};

// Subrequests and redirects: records beside the client's.
mod internal_request;
pub use internal_request::{InternalRequest, begin_internal};

// What the worker asks of the records, and tells them.
mod worker_api;
pub use worker_api::*;

// What the worker does for them.
mod engine;
pub use engine::{AddedLines, Engine, PieceEnd, engine_is};

// What a program prints, as an answer.
mod response;

// What was said so far, on its way to the front.
mod output;
pub use output::Client;

// Bodies that an application has framed.
mod unchunk;

// Filters of answers.
mod filters;
pub use filters::{
    end_filtered_answer, end_filtered_file, filter_answer, flush, has_filtered_body, is_filtered, output,
    pass_what_was_said,
};

// The page for an error that nobody else makes.
mod error_page;
pub use error_page::Page;

// The C ABI: what XS calls.
mod exports;
pub use exports::{hooks, xs_init};
