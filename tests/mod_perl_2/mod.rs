//! Sites of mod_perl 2: which configurations select it, and the environment of its handlers. Suites by other authors
//! run in `make suites`.

mod access;
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
mod responses;
mod scripts;

use crate::support::{Server, Site};

/// A site with a handler `My` of mod_perl 2, made of this code.
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
