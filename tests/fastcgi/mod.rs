//! FastCGI: applications that run beside the server, and programs that the server starts itself.

pub mod application;
mod guards;
mod guards_closed;
mod hostile;
mod htaccess;
mod managed;
mod mod_fastcgi;
mod passed;
mod php;
mod program;

use application::Application;
use program::{Program, listening};

/// A Perl program that answers with its variables, a line each, and with the request's body.
const DUMP: &str = "use FCGI; my $socket = FCGI::OpenSocket($ARGV[0], 50); my %env;\n\
    my $request = FCGI::Request(\\*STDIN, \\*STDOUT, \\*STDERR, \\%env, $socket);\n\
    while ($request->Accept >= 0) {\n\
    my $body = ''; 1 while read STDIN, $body, 65536, length $body;\n\
    print \"Content-Type: text/plain\\r\\n\\r\\n\", map(\"$_=$env{$_}\\n\", sort keys %env), \"body=\", length $body, \"\\n\"; }\n";

/// The value of a variable in the answer of [`DUMP`]; `-` if it is missing.
fn variable<'a>(answer: &'a str, name: &str) -> &'a str {
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or("-")
}
