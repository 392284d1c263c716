//! Sites that tests of several layers share.

use super::{Server, Site};

/// A CGI script that prints these variables of its environment, then the request body.
const ECHO: &str = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\";\n\
    print \"$_=$ENV{$_}\\n\" for grep { defined $ENV{$_} } qw(REQUEST_METHOD SCRIPT_NAME PATH_INFO PATH_TRANSLATED QUERY_STRING \
    REQUEST_URI REDIRECT_HANDLER REDIRECT_STATUS REDIRECT_URL REDIRECT_QUERY_STRING);\n\
    read STDIN, my $body, $ENV{CONTENT_LENGTH} || 0; print \"body=$body\\n\";";

/// A site with the script [`ECHO`] at /cgi-bin/tell.cgi and some static files.
#[track_caller]
pub fn serve_echo_script(conf: &str) -> Server {
    Site::new()
        .script("cgi/tell.cgi", ECHO)
        .file("htdocs/page.html", "<p>page</p>\n")
        .file("htdocs/plain.txt", "plain\n")
        .file("htdocs/page.own", "source\n")
        .serve(&format!("ScriptAlias /cgi-bin/ \"@DIR@/cgi/\"\n{conf}"))
}

/// A site with a page and a Perl handler under /perl. The handler prints its environment. The query string sets its
/// status.
#[track_caller]
pub fn serve_env_handler(conf: &str) -> Server {
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
