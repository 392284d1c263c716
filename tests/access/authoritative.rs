//! `AuthAuthoritative`: whether password files or Perl code decide first about a user, and which decision is final.

use super::{get_as, site};
use crate::support::Server;

/// Only Perl code knows `dbi`. `ana` has different passwords in Perl code and in the file. Perl code declines for
/// `none`.
const DOOR: &str = r#"package Door;
use Apache::Constants qw(:common);
sub authen {
    my $r = shift;
    my ( $status, $password ) = $r->get_basic_auth_pw;
    return $status if $status != OK;
    my $user = $r->connection->user;
    $r->log_error("Perl is asked who $user is");
    return DECLINED if $user eq 'none';
    return OK if $password eq 'perl';
    $r->note_basic_auth_failure;
    return AUTH_REQUIRED;
}
sub authz {
    my $r = shift;
    my $user = $r->connection->user;
    $r->log_error("Perl is asked what $user may");
    return $user eq 'dbi' ? OK : $user eq 'none' ? DECLINED : AUTH_REQUIRED;
}
1;
"#;

fn serve(lines: &str) -> Server {
    let users = "ana:{SHA}lxxBndYJMxND3uEF//0PRgjcC/I=\nben:{SHA}lxxBndYJMxND3uEF//0PRgjcC/I=\n";
    let site = site().file("lib/Door.pm", DOOR).file("users", users).file("groups", "staff: ana\n");
    site.serve(&format!(
        "PerlLib lib\nPerlModule My Door\n<Location /perl>\nSetHandler perl-script\nPerlHandler My\n\
         AuthType Basic\nAuthName x\nAuthUserFile users\nAuthGroupFile groups\n{lines}\n</Location>"
    ))
}

/// Each case: user, password, status.
#[track_caller]
fn answers(server: &Server, cases: &[(&str, &str, u16)]) {
    for (user, password, status) in cases {
        let answer = server.send(get_as("/perl", user, password)).is(*status);
        assert!(
            *status != 200 || answer.text().starts_with(&format!("user={user} env={user} type=Basic")),
            "{answer:?}"
        );
    }
}

#[test]
fn perl_code_runs_first_and_the_file_decides_with_auth_authoritative_on() {
    for directive in ["", "AuthAuthoritative On"] {
        let server = serve(&format!("{directive}\nRequire valid-user\nPerlAuthenHandler Door::authen"));
        answers(&server, &[("dbi", "perl", 200), ("ana", "perl", 200), ("ana", "file", 401), ("none", "file", 401)]);
        server.logged("user none not found");
    }
}

#[test]
fn a_file_without_authority_leaves_unknown_users_to_perl_code() {
    let server = serve("AuthAuthoritative Off\nRequire valid-user\nPerlAuthenHandler Door::authen");
    answers(&server, &[("ana", "file", 200), ("ana", "perl", 401), ("ana", "wrong", 401)]);
    server.logged("user ana: password mismatch");
    assert!(!server.log().contains("who ana is"), "the file knows her, and nobody else is asked");
    answers(&server, &[("dbi", "perl", 200), ("dbi", "file", 401), ("none", "perl", 401)]);
    server.get("/perl").is(401);
    server.logged("user none not found");
}

#[test]
fn a_user_whom_no_require_names_is_left_to_perl_code() {
    let lines = |value: &str| {
        format!(
            "AuthAuthoritative {value}\nRequire group staff\nPerlAuthenHandler Door::authen\nPerlAuthzHandler Door::authz"
        )
    };
    let server = serve(&lines("Off"));
    answers(&server, &[("ana", "file", 200)]);
    assert!(!server.log().contains("what ana may"));
    answers(&server, &[("dbi", "perl", 200), ("ben", "file", 401)]);
    let server = serve(&lines("On"));
    answers(&server, &[("dbi", "perl", 200), ("ana", "perl", 401)]);
    server.logged("what ana may");
}

#[test]
fn the_file_alone_decides_without_perl_code() {
    let server = serve("AuthAuthoritative Off\nRequire valid-user");
    answers(&server, &[("ana", "file", 200), ("ana", "x", 401), ("dbi", "perl", 401)]);
}
