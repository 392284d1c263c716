//! CGI programs with a process for each request: programs in other languages than Perl, and `CgiMode fork`.

mod beside_httpd;
mod ends;
mod execution;
mod fork;
mod perl;

use crate::support::{Server, Site};

/// Serves `text` as /cgi/test with one worker.
#[track_caller]
fn serve(text: &str) -> Server {
    serve_with(text, "")
}

/// Serves `text` with more configuration for the folder.
#[track_caller]
fn serve_with(text: &str, inside: &str) -> Server {
    Site::new().script("scripts/test", text).serve(&conf(inside))
}

fn conf(inside: &str) -> String {
    format!(
        "MaxClients 1\nStartServers 1\nMaxSpareServers 1\nScriptAlias /cgi/ @DIR@/scripts/\n<Directory @DIR@/scripts>\n{inside}\n</Directory>\n"
    )
}

const URL: &str = "/cgi/test";
/// The beginning of a shell program.
const SH: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n";
