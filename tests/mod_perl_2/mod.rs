//! Sites of mod_perl 2: which configurations mean it, and what its handlers find. What others wrote about it runs in `make suites`.

mod access;
mod answers;
mod bad_input;
mod clumsy_filters;
mod configuration;
mod connections;
mod environment;
mod files;
mod filters;
mod heads;
mod hooks;
mod inner_requests;
mod libapreq;
mod lifetime;
mod logs;
mod methods;
mod modules;
mod public_code;
mod registry;
mod scripts;

use crate::support::{Server, Site};

/// A handler `My` of mod_perl 2 with this code at `/my`, with one worker.
fn site(code: &str) -> Site {
    let head = "package My;\nuse strict;\nuse warnings;\nuse Apache2::RequestRec ();\nuse Apache2::RequestIO ();\n\
        use Apache2::RequestUtil ();\nuse Apache2::Const -compile => qw(:common :http);\n";
    Site::new().file("lib/My.pm", &format!("{head}{code}\n1;\n"))
}

fn conf(inside: &str) -> String {
    format!(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\n<Location /my>\nSetHandler modperl\n\
         PerlResponseHandler My\n{inside}\n</Location>"
    )
}

#[track_caller]
fn serve(code: &str, inside: &str) -> Server {
    site(code).serve(&conf(inside))
}
