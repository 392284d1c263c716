//! PerlAccessHandler, PerlAuthenHandler, PerlAuthzHandler.

use super::{hello, serve};
use crate::support::{Request, until};

const CODE: &str = "sub authen { my $r = shift; my ($status, $password) = $r->get_basic_auth_pw; return $status unless $status == OK;
        my $user = $r->connection->user;
        return OK if $user eq 'ana' && $password eq 'secret';
        $r->note_basic_auth_failure; $r->log_reason('wrong password'); AUTH_REQUIRED }
    sub authz { my $r = shift; $r->user eq 'ana' ? OK : FORBIDDEN }
    sub who { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', $r->user, $r->connection->auth_type, $ENV{REMOTE_USER}); OK }";
const INSIDE: &str = "AuthType Basic\nAuthName \"My realm\"\nRequire valid-user\nPerlAuthenHandler My::authen\nPerlAuthzHandler My::authz\nPerlHandler My::who";

#[test]
fn an_authen_handler_gets_the_password() {
    let server = serve(
        CODE,
        &("CustomLog access.log \"%u %s\"\n".to_owned() + &hello(INSIDE).replace("PerlHandler My::hello\n", "")),
    );
    let response = server.get("/hello").is(401);
    assert_eq!(response.header("www-authenticate").as_deref(), Some("Basic realm=\"My realm\""));
    let with = |credentials: &str| server.send(Request::get("/hello").header("Authorization", credentials));
    with("Basic YW5hOndyb25n").is(401);
    server.logged("wrong password");
    assert_eq!(with("Basic YW5hOnNlY3JldA==").is(200).text(), "ana|Basic|ana");
    until("the access log names the user", || server.site.read("access.log").contains("ana 200"));
}

#[test]
fn a_declining_authen_handler_without_a_file_refuses_all() {
    let server = serve(
        "sub shrug { DECLINED }",
        &hello("AuthType Basic\nAuthName x\nRequire valid-user\nPerlAuthenHandler My::shrug"),
    );
    assert!(server.get("/hello").status >= 400);
}
