//! Debian's Apache::AuthCookie, unmodified, in its branch for mod_perl 1: tests/apps/packaged/site/lib/Doors.pm is the
//! site's part.

use crate::support::{Request, Server, Site};

#[track_caller]
fn serve() -> Server {
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site");
    Site::new().serve(&format!(
        r#"
        PerlLib {real}/lib
        PerlModule Doors
        PerlSetVar HousePath /
        PerlSetVar HouseLoginScript /form
        <Location /form>
            SetHandler perl-script
            PerlHandler Doors::form
        </Location>
        <Location /login>
            AuthType Doors
            AuthName House
            SetHandler perl-script
            PerlHandler Doors->login
        </Location>
        <Location /logout>
            AuthType Doors
            AuthName House
            SetHandler perl-script
            PerlHandler Doors->logout
        </Location>
        <Location /room>
            AuthType Doors
            AuthName House
            SetHandler perl-script
            PerlHandler Doors::room
            PerlAuthenHandler Doors->authenticate
            PerlAuthzHandler Doors->authorize
            Require valid-user
        </Location>
        <Location /room/blue>
            Require team blue
        </Location>
        "#
    ))
}

fn with_key(path: &str, key: &str) -> Request {
    Request::get(path).header("Cookie", &format!("other=1; Doors_House={key}")).header("User-Agent", BROWSER)
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/115.0";

#[track_caller]
fn log_in(server: &Server, user: &str, password: &str) -> crate::support::Response {
    let form = format!("destination=/room/x%3Fa%3Db&credential_0={user}&credential_1={password}");
    server.send(Request::post("/login", &form).header("User-Agent", BROWSER))
}

#[test]
fn a_request_without_a_valid_key_gets_the_login_form() {
    let server = serve();
    for request in [Request::get("/room").header("User-Agent", BROWSER), with_key("/room", "forged")] {
        let answer = server.send(request).is(403);
        assert!(answer.text().starts_with("form for /room: "), "{answer:?}");
    }
}

#[test]
fn the_right_password_is_exchanged_for_a_key_that_opens() {
    let server = serve();
    let answer = log_in(&server, "ana", "secret").is(302);
    assert_eq!(answer.header("location").as_deref(), Some("/room/x?a=b"));
    assert_eq!(answer.header("set-cookie").as_deref(), Some("Doors_House=ana:key; path=/"));
    assert_eq!(server.send(with_key("/room", "ana:key")).is(200).text(), "room of ana Doors");
    assert_eq!(server.send(with_key("/room", "ben:key")).is(200).text(), "room of ben Doors");
}

#[test]
fn a_wrong_password_is_answered_with_the_form() {
    let server = serve();
    let answer = log_in(&server, "ana", "wrong").is(403);
    assert!(answer.text().ends_with(": bad_credentials"), "{answer:?}");
    assert_eq!(answer.header("set-cookie"), None);
}

#[test]
fn a_requirement_is_a_method_of_the_site() {
    let server = serve();
    server.send(with_key("/room/blue", "ana:key")).is(200);
    server.send(with_key("/room/blue", "ben:key")).is(403);
}

#[test]
fn a_logout_expires_the_key() {
    let answer = serve().send(with_key("/logout", "ana:key"));
    assert!(
        answer.header("set-cookie").is_some_and(|cookie| cookie.starts_with("Doors_House=; expires=Mon, 21-May-1971")),
        "{answer:?}"
    );
}
