//! CGI scripts under Apache::Registry: compiled once, run often.

mod background;
mod compiling;
mod handles;
mod headers;
mod left_behind;
mod output;
mod program;
mod refusals;
mod request;
mod run_command;
mod start_up_state;

use crate::support::{REGISTRY as CONF, Server, Site};

/// The head of a script that prints plain text.
const TEXT: &str = "print \"Content-Type: text/plain\\n\\n\";\n";

/// Serves `script` as /perl/test.pl with one worker.
#[track_caller]
fn serve(script: &str) -> Server {
    site(script).serve(CONF)
}

/// Serves `script` after a text/plain head.
#[track_caller]
pub(crate) fn serve_text(script: &str) -> Server {
    serve(&format!("{TEXT}{script}"))
}

fn site(script: &str) -> Site {
    Site::new().script("scripts/test.pl", script)
}

const URL: &str = "/perl/test.pl";
