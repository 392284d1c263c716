//! Debian's Apache::AuthDBI, unmodified: users and groups in an SQLite file.

use std::process::Command;

use crate::support::{Finished, Request, Response, Server, Site};

const TABLES: &str = "create table users (name text, password text, team text); \
    insert into users values ('ana', 'secret', 'blue,red'), ('ben', 'other', 'red'), ('old', 'abgOeLfPimXQo', 'blue'); \
    create table teams (name text, team text); insert into teams values ('ana', 'green'), ('ana', 'white'), ('ben', 'white');";

/// Serves a place that AuthDBI protects, with `rules` in it.
#[track_caller]
fn serve(rules: &str) -> Server {
    let site = Site::new().file("lib/Room.pm", ROOM);
    let database = site.path("users.db");
    let make = "use DBI; my $d = DBI->connect(\"dbi:SQLite:dbname=$ARGV[0]\", '', '', { RaiseError => 1 }); $d->do($_) for split /;\\s*/, $ARGV[1]";
    Finished::of(Command::new("perl").args(["-e", make]).arg(&database).arg(TABLES)).succeeded();
    site.serve(&format!(
        r#"
        PerlLib lib
        PerlModule Apache::DBI Apache::AuthDBI Room
        <Location /room>
            SetHandler perl-script
            PerlHandler Room
            AuthName "The room"
            AuthType Basic
            PerlAuthenHandler Apache::AuthDBI::authen
            PerlAuthzHandler Apache::AuthDBI::authz
            PerlSetVar Auth_DBI_data_source dbi:SQLite:dbname=@DIR@/users.db
            PerlSetVar Auth_DBI_pwd_table users
            PerlSetVar Auth_DBI_uid_field name
            PerlSetVar Auth_DBI_pwd_field password
            PerlSetVar Auth_DBI_grp_field team
            {rules}
        </Location>
        "#
    ))
}

const ROOM: &str = "package Room; sub handler { my $r = shift; $r->send_http_header('text/plain'); \
    print join ' ', $r->user, $r->connection->user, $ENV{REMOTE_USER}, $ENV{REMOTE_GROUP} // '-', $ENV{REMOTE_GROUPS} // '-'; 0 } 1;";

#[track_caller]
fn ask(server: &Server, user: &str, password: &str) -> Response {
    server.send(
        Request::get("/room").header("Authorization", &format!("Basic {}", base64(&format!("{user}:{password}")))),
    )
}

fn base64(text: &str) -> String {
    let make = Command::new("perl").args(["-MMIME::Base64", "-e", "print encode_base64($ARGV[0], '')", text]).output();
    String::from_utf8(make.expect("perl runs").stdout).expect("base64 is ASCII")
}

#[test]
fn only_a_user_of_the_table_has_access() {
    let server = serve("PerlSetVar Auth_DBI_encrypted off\nRequire valid-user");
    let refused = server.get("/room").is(401);
    assert_eq!(refused.header("www-authenticate").as_deref(), Some("Basic realm=\"The room\""));
    assert!(ask(&server, "ana", "secret").is(200).text().starts_with("ana ana ana"));
    for (user, password) in [("ana", "wrong"), ("eve", "secret"), ("ana", ""), ("' or 1=1 --", "x")] {
        let refused = ask(&server, user, password).is(401);
        assert_eq!(refused.header("www-authenticate").as_deref(), Some("Basic realm=\"The room\""), "{user}");
    }
    server.logged("user ana: password mismatch");
    server.logged("password for user eve not found");
}

#[test]
fn passwords_may_be_stored_as_hashes_of_crypt() {
    let server = serve("PerlSetVar Auth_DBI_encryption_method crypt\nRequire valid-user");
    ask(&server, "old", "test").is(200);
    ask(&server, "old", "tset").is(401);
    ask(&server, "ana", "secret").is(401);
}

#[test]
fn groups_and_users_are_required() {
    let server = serve("PerlSetVar Auth_DBI_encrypted off\nRequire group blue\nRequire user ben");
    assert!(ask(&server, "ana", "secret").is(200).text().starts_with("ana ana ana"));
    ask(&server, "ben", "other").is(200);
    let server = serve("PerlSetVar Auth_DBI_encrypted off\nRequire group blue");
    ask(&server, "ana", "secret").is(200);
    ask(&server, "ben", "other").is(403);
}

#[test]
fn auth_dbi_passes_the_groups_of_a_user_to_programs() {
    const PLAIN: &str = "PerlSetVar Auth_DBI_encrypted off\n";
    for (lines, groups) in [
        ("Require group blue", "blue blue,red"),
        ("PerlSetVar Auth_DBI_placeholder on\nRequire group red yellow", "red blue,red"),
        ("PerlSetVar Auth_DBI_grp_table teams\nRequire group green", "green green,white"),
        (
            "PerlSetVar Auth_DBI_grp_table teams\nPerlSetVar Auth_DBI_grp_whereclause \"team <> 'white'\"\nRequire group green",
            "green green",
        ),
    ] {
        let server = serve(&format!("{PLAIN}{lines}"));
        for _ in 0..3 {
            assert_eq!(ask(&server, "ana", "secret").is(200).text(), format!("ana ana ana {groups}"), "{lines}");
        }
    }
    let server = serve(&format!("{PLAIN}PerlSetVar Auth_DBI_expeditive off\nRequire group blue"));
    let refused = ask(&server, "ben", "other").is(401);
    assert_eq!(refused.header("www-authenticate").as_deref(), Some("Basic realm=\"The room\""));
    server.logged("DBI-Authoritative: Access denied on  GROUP rule(s)");
}

#[test]
fn an_unknown_user_is_refused_although_auth_dbi_is_not_authoritative() {
    let server = serve("PerlSetVar Auth_DBI_encrypted off\nPerlSetVar Auth_DBI_authoritative off\nRequire group blue");
    ask(&server, "ana", "secret").is(200);
    for (user, password) in [("ben", "other"), ("eve", "x")] {
        let refused = ask(&server, user, password).is(401);
        assert_eq!(refused.header("www-authenticate").as_deref(), Some("Basic realm=\"The room\""), "{user}");
    }
    server.logged("no PerlAuthenHandler identifies the user, and there is no AuthUserFile");
}

#[test]
fn a_database_that_is_not_there_is_an_error_of_the_server() {
    let server = serve("PerlSetVar Auth_DBI_data_source dbi:SQLite:dbname=/nowhere/at/all.db\nRequire valid-user");
    ask(&server, "ana", "secret").is(500);
    server.logged("db connect error with data_source");
}
