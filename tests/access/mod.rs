//! Places with access rules, for static files and for Perl handlers alike.

mod authoritative;
mod databases;
mod digest;
mod files;
mod hash_cost;
mod hosts;
mod htaccess;
mod inside_worker;
mod ldap;
mod methods;
mod perl;
mod places;
mod requirements;
mod reverse_dns;
mod users;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::{Request, Site};

/// A site with a file and a Perl handler, which prints the user and host of the client, in every place.
fn site() -> Site {
    Site::new()
        .file(
            "lib/My.pm",
            "package My;\nuse strict;\nuse Apache::Constants qw(:common);\n\
             sub handler { my $r = shift; $r->send_http_header('text/plain');\n\
             $r->print('user=', $r->connection->user // '-', ' env=', $ENV{REMOTE_USER} // '-', ' type=', $ENV{AUTH_TYPE} // '-',\n\
             ' host=', $ENV{REMOTE_HOST} // '-'); OK }\n1;\n",
        )
        .file("htdocs/place/index.html", "inside")
        .file("htdocs/place/deep/a.txt", "deep")
}

/// `rules` for a folder of files and for a Perl handler, so that each case can be tested twice.
fn conf(rules: &str) -> String {
    format!(
        "PerlLib lib\nPerlModule My\n<Location /place>\n{rules}\n</Location>\n\
         <Location /perl>\nSetHandler perl-script\nPerlHandler My\n{rules}\n</Location>\n"
    )
}

/// The targets of both places of [`conf`].
const PLACES: [&str; 2] = ["/place/", "/perl/x"];

/// The value of an `Authorization` header for Basic authentication.
fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// A GET with the credentials of `user`.
fn get_as(target: &str, user: &str, password: &str) -> Request {
    Request::get(target).header("Authorization", &basic(user, password))
}
