//! Static files, sent by the front without a worker (RFC 9110, sections 8.8, 13 and 14; httpd's core, mod_dir,
//! mod_mime, mod_userdir, mod_autoindex and mod_asis).
//! `find` looks up a path and its handler; `send` builds the response. Files with a script or Perl handler go to a
//! worker, so that their source is never sent.

mod as_is;
pub mod autoindex;
mod conditional;
mod find;
pub mod homes;
mod image_map;
pub mod lookup;
mod mime;
mod partial;
mod precompressed;
pub mod range;
mod send;
pub mod similar;
pub mod user_folders;
pub mod visible;

use http::header::HeaderValue;

use super::context::RequestContext;
use crate::base::refusal::Refusal;
use crate::routing::Route;

pub use as_is::LocalRedirect;
pub use find::{LookupResult, behind, find, find_declined, leads_to_an_index};
pub use mime::{content_headers, is_type_map};
pub use send::send;

/// The methods allowed on files and folder indexes.
pub const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// Writes the cause of a refusal, if it has one, to the error log. Must be called after the access check: the log of a
/// stranger's requests has no names of files that it may not ask for.
pub fn log_cause(context: &RequestContext, route: &Route, refusal: &Refusal) {
    if let Some(cause) = refusal.cause {
        context.log_error(route, &format_args!("{}: {}", route.filename.display(), cause.text()));
    }
}
