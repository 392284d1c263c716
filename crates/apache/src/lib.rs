//! The Rust half of the `Apache::` API: the request record of mod_perl 1.x, without Perl.
//!
//! ```text
//!   worker ──▶ begin ──────────────▶ RequestRec ◀── exports (C ABI) ◀── perl/lib/**/*.xs ◀── $r->…
//!          ──▶ psgi_env ───────────▶     │      ◀── output ◀── STDOUT's layer
//!          ──▶ finish, fail ───────▶     └──▶ Client::send ──▶ the wire
//! ```
//!
//! One request is current at a time, and none is borrowed while Perl runs. Unsafe code is in `exports` alone.

mod place;
pub use place::{OPT_EXECCGI, Place, Requirement, Satisfies};

mod log;
pub use log::{Level, log_to, on_level, say};

mod current;
pub use current::{
    begin, child_terminate, cleanup_is_wanted, end, fail, finish, flush, generation, output, psgi_env, send_file,
    server_software, servers, want_cleanup,
};

use current::fill_env;

mod request;
pub use request::{Client, Ended, Finished, Incoming};

mod field;
mod method;
mod script_name;
mod table;
mod tables;

mod env;

mod error_page;
mod fault;
mod head;
mod output;
mod printed;
mod response;
mod script_headers;

mod exports;
pub use exports::{hooks, xs_init};
