//! CGI programs with a process for each request: programs in other languages than Perl, and `CgiMode fork`.

mod beside_httpd;
mod ends;
mod environment;
mod execution;
mod fork;
mod perl;
mod processes;

use crate::support::{Server, Site};

/// Serves `text` as /cgi/test with one process for programs, and one worker with Perl.
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
        "MaxClients 1\nStartServers 1\nMaxSpareServers 1\nCgiMaxProcesses 1\nScriptAlias /cgi/ @DIR@/scripts/\n<Directory @DIR@/scripts>\n{inside}\n</Directory>\n"
    )
}

/// The processes that run programs without Perl, each with its state.
fn runners(server: &Server) -> Vec<(i32, String)> {
    let status = server.status();
    let workers = status["front"]["workers"].as_array().cloned().unwrap_or_default();
    let ours = workers.iter().filter(|worker| worker["pool"] == "cgi");
    ours.map(|w| (w["pid"].as_i64().unwrap_or(0) as i32, w["state"].as_str().unwrap_or("").to_owned())).collect()
}

/// The only process of the pool cgi.
#[track_caller]
fn runner(server: &Server) -> i32 {
    let found = runners(server);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].0
}

const URL: &str = "/cgi/test";
/// The beginning of a shell program.
const SH: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n";
