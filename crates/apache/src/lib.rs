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

mod place;
pub use place::{Logged, OPT_EXECCGI, Place, Requirement, Satisfies, TypeOf};

mod log;
pub use log::{Level, complain, log_to, on_level, say};

mod current;
pub use current::{
    begin, child_terminate, end, finish, flush, generation, output, program_env, psgi_env, run, servers,
    version_components, want_cleanup,
};

use current::fill_env;

mod lead;
pub use lead::{Lead, Target, lead};

mod translation;
pub use translation::{begin_translation, end_translation, retarget, without_file};

mod stack;
pub use stack::{Stack, enter_phase, running_phase, stack};

mod facts;
pub use facts::{
    Asked, Said, asked, filename, handler, has_file, is_https, is_unheard, keep_content_type, method, own_name,
    path_info, place_is, said, set_location, set_note, set_status, status,
};

mod visitor;
pub use visitor::{
    addresses, change_variables, has_variable, header_in, headers_in, protocol, remote_host, set_challenge, user,
    user_is, variables,
};

mod answer;
pub use answer::{
    Outcome, begin_body, custom_response, declined_file, discard, error_before, fail, outcome, send_file, send_page,
};

mod engine;
pub use engine::{Engine, engine_is};

mod request;
pub use request::{Client, Ended, Finished, Incoming};

mod field;
mod method;
mod script_name;
mod slashes;
mod table;
mod tables;

mod env;
pub use env::MOD_PERL;

mod error_page;
pub use error_page::Page;
mod fault;
mod fitting;
mod head;
mod output;
mod printed;
mod response;
mod script_headers;

mod exports;
pub use exports::{hooks, xs_init};
