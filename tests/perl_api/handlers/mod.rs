//! mod_perl 1 handlers: `$r` and its environment.

mod constants;
mod kept;
mod left_behind;
mod lifetime;
mod phases;
mod reading;
mod writing;

use crate::support::{Server, Site};

/// Serves `package My` with this code under /my, with one worker. The code defines `handler`.
#[track_caller]
fn serve(code: &str) -> Server {
    serve_with(code, "")
}

/// Serves `package My` with more configuration inside its location.
#[track_caller]
fn serve_with(code: &str, inside: &str) -> Server {
    site(code).serve(&conf(inside))
}

fn site(code: &str) -> Site {
    Site::new().file(
        "lib/My.pm",
        &format!("package My;\nuse strict;\nuse Apache::Constants qw(:common REDIRECT);\n{code}\n1;\n"),
    )
}

fn conf(inside: &str) -> String {
    format!(
        "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule My\nServerAdmin admin@example.org\nPerlSetVar Outer server\n\
         <Location /my>\nSetHandler perl-script\nPerlHandler My\n{inside}\n</Location>"
    )
}

/// A `handler` that prints the values of `expressions`, joined by `|`. An undefined value is printed as `(undef)`.
fn printing(expressions: &str) -> String {
    format!(
        "sub handler {{ my $r = shift; $r->content_type('text/plain'); $r->send_http_header;\n\
         $r->print(join '|', map {{ defined $_ ? $_ : '(undef)' }} ({expressions})); OK }}"
    )
}
