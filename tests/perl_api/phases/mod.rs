//! The phases of a request, subrequests and redirects.

mod admission;
mod applications;
mod cells;
mod errors;
mod folders;
mod methods;
mod order;
mod redirects;
mod responses;
mod results;
mod stacks;
mod subrequests;
mod translation;

use crate::support::{Server, Site};

/// Serves `package My` with this code and configuration, with one worker.
#[track_caller]
fn serve(code: &str, conf: &str) -> Server {
    site(code).serve(&with_base(conf))
}

fn site(code: &str) -> Site {
    Site::new().file(
        "lib/My.pm",
        &format!(
            "package My;\nuse strict;\nuse Apache::Constants qw(:common :response REDIRECT DONE HTTP_OK);\n\
             sub note {{ my ($r, $what) = @_; $r->headers_out->add('X-Phase' => $what); $r->err_headers_out->add('X-Err' => $what); OK }}\n\
             sub hello {{ my $r = shift; $r->send_http_header('text/plain'); $r->print('hello'); OK }}\n{code}\n1;\n"
        ),
    )
}

fn with_base(conf: &str) -> String {
    format!("MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule My\n{conf}")
}

/// A location whose PerlHandler is `My::hello`, with further lines.
fn hello(inside: &str) -> String {
    format!("<Location /hello>\nSetHandler perl-script\nPerlHandler My::hello\n{inside}\n</Location>\n")
}
