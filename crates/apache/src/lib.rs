//! The Rust half of the `Apache::` API: the request record of mod_perl 1.x, without Perl.
//!
//! ```text
//!   worker ──▶ begin ──────────────▶ RequestRec ◀── exports (C ABI) ◀── perl/lib/**/*.xs ◀── $r->…
//!          ──▶ psgi_env ───────────▶     │      ◀── output ◀── STDOUT's layer
//!          ──▶ outcome, finish ────▶     └──▶ Client::send ──▶ the wire
//!          ◀── Engine ◀──────────── $r->lookup_uri, internal_redirect
//! ```
//!
//! One client's request is current at a time, with its internal requests, and none is borrowed while Perl runs.
//! Unsafe code is in `exports` alone.
//!
//! Start at `request_rec`, which is `$r`; `request_stack` has the records of the current request, `response` their
//! output.

pub use form::urlencoded::{path_encoded, percent_decoded};

// The configuration of a location.
mod place;
pub use place::{FactOf, Logged, OPT_EXECCGI, PassedAlias, PlaceConfig, RequireLine, Satisfies};

// Lines for the error log.
mod log;
pub use base::log::LogLevel as Level;
pub use log::{log_line, log_output, log_to, on_level};

// The API of `$r`.
mod request_rec;
pub use request_rec::cgi_program::is_handed_on;
pub use request_rec::environment::{Api, api, speak};
pub use request_rec::handler_stacks::HandlerStack;
pub use request_rec::target::InternalTarget;
pub use request_rec::{EndedRequest, FinishedRequest, Incoming};

// The records of the request that this process answers.
mod request_stack;
pub use request_stack::{
    begin, cgi_env, child_terminate, end, finish, leave_after, psgi_env, record_number, report_parts, run, servers,
    version_components, want_cleanup,
};

// `%ENV`, tied to `$r->subprocess_env`.
mod tied_env;
pub use tied_env::{keep as keep_env, tie as tie_env};

// Subrequests and redirects: further records beside the client's.
mod internal_request;
pub use internal_request::{InternalRequest, begin_internal};

// The worker's access to the records.
mod worker_api;
pub use worker_api::*;

// The worker's services for the records.
mod engine;
pub use engine::{AddedLines, Engine, PieceEnd, engine_is};

// The worker's services for event loops of Perl code.
mod broadcast;
mod event;
pub use broadcast::{BroadcastPort, broadcast_port_is};
pub use event::{EventOrders, EventPort, event_port_is};

// Converts printed output to a response.
mod response;

// Output on its way to the front.
mod output;
pub use output::ResponseReceiver;

// Decoding of chunked bodies that a PSGI application has framed itself.
mod unchunk;

// Response filters, which are Perl code; printed output passes them in pieces.
mod filters;
pub use filters::{
    end_filtered_file, end_filtered_response, filter_response, flush, has_filtered_body, is_filtered, output,
    pass_printed,
};

// The standard error page.
mod error_page;
pub use error_page::ErrorPage;

// The C ABI that XS code calls.
mod exports;
pub use exports::{hooks, xs_init};
