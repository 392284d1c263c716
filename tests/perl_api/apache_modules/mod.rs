//! Modules of mod_perl 1's era that Debian does not package, each tested through the server.

mod chains;
mod debugging;
mod gtop;
mod memory;
mod phases;
mod profilers;
mod resource;
mod scoreboard;
mod size_limit;
mod small;
mod speed_limit;
mod status;
mod sub_process;

use crate::support::{REGISTRY as CONF, Server, Site};

/// Serves `code` as the script /perl/test.pl with one worker. The script has `$r` and has sent a text/plain head.
#[track_caller]
fn script(code: &str, conf: &str) -> Server {
    with_script(Site::new(), code).serve(&format!("{CONF}{conf}"))
}

fn with_script(site: Site, code: &str) -> Site {
    site.script("scripts/test.pl", &format!("my $r = shift; $r->send_http_header('text/plain');\n{code}"))
}

const URL: &str = "/perl/test.pl";
