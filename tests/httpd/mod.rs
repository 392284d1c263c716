//! What httpd's documents say, asserted: each test names the page of the manual (httpd.apache.org/docs/2.4/) or the section
//! of the RFC where its sentence stands. What was not plain there was tried with httpd 2.4.

mod access;
mod actions;
mod files;
mod handlers;
mod headers;
mod sections;
mod server_status;
mod slashes;
mod strictness;

use crate::support::{Server, Site};

/// What a script tells of its request: these variables, then the body.
const TELLS: &str = "print \"Content-Type: text/plain\\n\\n\";\n\
    print \"$_=$ENV{$_}\\n\" for grep { defined $ENV{$_} } qw(REQUEST_METHOD SCRIPT_NAME PATH_INFO PATH_TRANSLATED QUERY_STRING \
    REQUEST_URI REDIRECT_HANDLER REDIRECT_STATUS REDIRECT_URL REDIRECT_QUERY_STRING);\n\
    read STDIN, my $body, $ENV{CONTENT_LENGTH} || 0; print \"body=$body\\n\";";

/// A site with a script that tells what it is asked, at /cgi-bin/tell.cgi, and some files.
#[track_caller]
fn serve(conf: &str) -> Server {
    Site::new()
        .script("cgi/tell.cgi", TELLS)
        .file("htdocs/page.html", "<p>page</p>\n")
        .file("htdocs/plain.txt", "plain\n")
        .file("htdocs/page.own", "source\n")
        .serve(&format!("ScriptAlias /cgi-bin/ \"@DIR@/cgi/\"\n{conf}"))
}
