//! What the configuration says of answers: where they are, what they look like, which headers they have.

mod compress;
mod error_logs;
mod errors;
mod folders;
mod headers;
mod htaccess;
mod inflate;
mod redirects;
mod types;
mod variables;

use crate::support::{Server, Site};

/// A site with a page and a Perl handler under /perl that prints its environment and sends what the query names as
/// its status.
#[track_caller]
fn serve(conf: &str) -> Server {
    Site::new()
        .file("htdocs/page.html", "<p>page</p>\n")
        .file("htdocs/plain.txt", "plain\n")
        .file(
            "lib/My.pm",
            "package My;\nuse strict;\nuse Apache::Constants qw(:common);\n\
             sub handler { my $r = shift; my $status = $r->args || 200; return $status if $status >= 400;\n\
             $r->content_type('text/html'); $r->header_out('X-Own' => 'handler'); $r->send_http_header;\n\
             $r->print(map { \"$_=$ENV{$_}\\n\" } sort keys %ENV); OK }\n1;\n",
        )
        .serve(&format!(
            "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule My\n\
             <Location /perl>\nSetHandler perl-script\nPerlHandler My\n</Location>\n{conf}"
        ))
}
