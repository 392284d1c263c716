//! Methods of `$r` about the access rules of its place.

use super::site;
use crate::support::{Request, Server};

fn serve(rules: &str, expression: &str) -> Server {
    let site = site().file(
        "lib/Ask.pm",
        &format!(
            "package Ask;\nuse Apache::Constants qw(:common :satisfy);\n\
             sub handler {{ my $r = shift; $r->send_http_header('text/plain');\n\
             $r->print(join '|', map {{ $_ // '-' }} {expression}); OK }}\n1;\n"
        ),
    );
    site.serve(&format!(
        "PerlLib lib\nPerlModule Ask\n<Location /perl>\nSetHandler perl-script\nPerlHandler Ask\n{rules}\n</Location>"
    ))
}

#[test]
fn requires_returns_requirements_with_their_methods() {
    let server = serve(
        "Satisfy Any\nAuthType Basic\nAuthName \"The place\"\nRequire user ana \"eve adams\"\n<Limit POST>\nRequire valid-user\n</Limit>",
        "$r->auth_type, $r->auth_name, $r->satisfies == SATISFY_ANY, $r->some_auth_required, \
         map { \"$_->{method_mask} $_->{requirement}\" } @{ $r->requires }",
    );
    let everyone = "Basic|The place|1|1|-1 user ana \"eve adams\"";
    assert_eq!(server.text("/perl"), everyone, "Apache.xs, requires: the lines for this method");
    let posted = server.send(Request::post("/perl", "")).is(200).text();
    assert_eq!(posted, format!("{everyone}|4 valid-user"));
}

#[test]
fn requests_that_a_handler_allows_have_its_notes() {
    let server = serve("", "$r->allowed, do { $r->allowed(5); $r->allowed }, $r->connection->auth_type");
    assert_eq!(server.text("/perl"), "0|5|-");
}

#[test]
fn a_location_without_access_rules_has_no_auth_settings() {
    let server = serve(
        "",
        "$r->auth_type, $r->auth_name, $r->satisfies == SATISFY_NOSPEC, $r->some_auth_required ? 1 : 0, $r->requires, \
         $r->connection->auth_type",
    );
    assert_eq!(server.text("/perl"), "-|-|1|0|-|-");
}
