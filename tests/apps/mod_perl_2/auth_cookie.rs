//! Debian's Apache2::AuthCookie, as sites of httpd 2.2 use it, and Apache2_4::AuthCookie.
//!
//! tests/apps/mod_perl_2/site/lib/House.pm is the site's part. It has the users ana (password `secret`) and ben
//! (`other`). Only ana is a member of the team blue. The key of a session is `NAME:key`, such as `ana:key`; any other
//! key is invalid. `/form` prints `form for PATH: REASON`, `/room` prints `room of NAME AUTHTYPE`.

use super::{OURS, no_answer_is_wrong_over_reloads};
use crate::support::{Request, Response, Server, Site};

/// Classes of tests/apps/mod_perl_2/site/lib/House.pm, one derived from each module.
const BOTH: [&str; 2] = ["House::Old", "House::New"];

#[track_caller]
fn serve(class: &str) -> Server {
    let (authorize, team) = match class {
        "House::Old" => (format!("PerlAuthzHandler {class}->authorize"), String::new()),
        _ => (String::new(), format!("PerlAddAuthzProvider team {class}->authz_team")),
    };
    Site::new().serve(&format!(
        r#"
        PerlSwitches -I{OURS}/lib
        PerlModule House
        {team}
        PerlSetVar HousePath /
        PerlSetVar HouseLoginScript /form
        <Location /form>
            SetHandler perl-script
            PerlResponseHandler House::form
        </Location>
        <LocationMatch "^/log(in|out)$">
            AuthType {class}
            AuthName House
            SetHandler perl-script
        </LocationMatch>
        <Location /login>
            PerlResponseHandler {class}->login
        </Location>
        <Location /logout>
            PerlResponseHandler {class}->logout
        </Location>
        <Location /room>
            AuthType {class}
            AuthName House
            SetHandler perl-script
            PerlResponseHandler House::room
            PerlAuthenHandler {class}->authenticate
            {authorize}
            Require valid-user
        </Location>
        <Location /room/blue>
            Require team blue
        </Location>
        "#
    ))
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/115.0";

fn with_key(class: &str, path: &str, key: &str) -> Request {
    Request::get(path).header("Cookie", &format!("other=1; {class}_House={key}")).header("User-Agent", BROWSER)
}

#[track_caller]
fn log_in(server: &Server, user: &str, password: &str) -> Response {
    let form = format!("destination=/room/x%3Fa%3Db&credential_0={user}&credential_1={password}");
    server.send(Request::post("/login", &form).header("User-Agent", BROWSER))
}

#[test]
fn a_request_without_a_valid_key_gets_the_login_form() {
    for class in BOTH {
        let server = serve(class);
        for request in [Request::get("/room").header("User-Agent", BROWSER), with_key(class, "/room", "forged")] {
            let answer = server.send(request).is(403);
            assert!(answer.text().starts_with("form for /room: "), "{class}: {answer:?}");
        }
        // Browsers that do not show the body of a 403 get the form with 200.
        let answer = server.send(Request::get("/room").header("User-Agent", "Mozilla/5.0 (SymbianOS/9.1)")).is(200);
        assert_eq!(answer.text(), "form for /room: no_cookie", "{class}");
    }
}

#[test]
fn a_password_is_exchanged_for_a_key_and_a_wrong_one_gets_the_form() {
    for class in BOTH {
        let server = serve(class);
        let answer = log_in(&server, "ana", "secret").is(302);
        assert_eq!(answer.header("location").as_deref(), Some("/room/x?a=b"));
        assert_eq!(answer.header("set-cookie"), Some(format!("{class}_House=ana:key; path=/")));
        assert_eq!(server.send(with_key(class, "/room", "ana:key")).is(200).text(), format!("room of ana {class}"));
        let answer = log_in(&server, "ana", "wrong").is(403);
        assert!(answer.text().ends_with(": bad_credentials"), "{class}: {answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "{class}");
    }
}

#[test]
fn only_a_member_of_the_required_team_has_access() {
    for class in BOTH {
        let server = serve(class);
        server.send(with_key(class, "/room/blue", "ana:key")).is(200);
        server.send(with_key(class, "/room/blue", "forged")).is(403);
        let other = server.send(with_key(class, "/room/blue", "ben:key"));
        assert!(!other.text().contains("room of") && other.status >= 400, "{class}: {other:?}");
    }
}

#[test]
fn a_logout_expires_the_key() {
    for class in BOTH {
        let answer = serve(class).send(with_key(class, "/logout", "ana:key"));
        let begins = format!("{class}_House=; expires=Mon, 21-May-1971");
        assert!(answer.header("set-cookie").is_some_and(|cookie| cookie.starts_with(&begins)), "{answer:?}");
    }
}

#[test]
fn under_load_and_over_reloads_only_users_with_a_key_have_access() {
    for class in BOTH {
        let server = serve(class);
        no_answer_is_wrong_over_reloads(
            &server,
            &[
                (with_key(class, "/room", "ana:key"), |r| r.status == 200 && r.text().starts_with("room of ana ")),
                (with_key(class, "/room/blue", "ben:key"), |r| r.status >= 400 && !r.text().contains("room of")),
                (Request::get("/room").header("User-Agent", BROWSER), |r| {
                    r.status == 403 && r.text().contains("form for")
                }),
                (Request::post("/login", "destination=/room&credential_0=ben&credential_1=other"), |r| {
                    r.status == 302 && r.header("set-cookie").is_some()
                }),
            ],
        );
    }
}
