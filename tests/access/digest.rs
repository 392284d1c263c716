//! Digest authentication with curl as the client, for files and for Perl handlers.

use std::process::Command;

use super::{PLACES, conf, site};
use crate::support::{Address, Finished, Request, Response, Server, Site, until};

const RULES: &str = "AuthType Digest\nAuthName \"the area\"\nAuthUserFile @DIR@/users\nAuthGroupFile @DIR@/groups";

fn hashed(user: &str, password: &str) -> String {
    let text = format!("{user}:the area:{password}");
    let script = "use Digest::MD5 'md5_hex'; print md5_hex(shift)";
    let hash = Finished::of(Command::new("perl").args(["-e", script, &text])).succeeded().out;
    format!("{user}:the area:{hash}\n")
}

fn serve(rules: &str) -> Server {
    let site = site().file("users", &(hashed("ann", "secret") + &hashed("ben", "word")));
    site.file("groups", "staff: ann\n").serve(&conf(&format!("{RULES}\n{rules}")))
}

/// The response of curl, which answers the server's challenge.
fn ask(server: &Server, target: &str, user: &str, more: &[&str]) -> String {
    let Address::Tcp(port) = server.site.address() else { unreachable!("the site listens on TCP") };
    let url = format!("http://127.0.0.1:{port}{target}");
    let arguments = ["-sS", "-i", "--noproxy", "*", "--digest", "-u", user];
    Finished::of(Command::new("curl").args(arguments).args(more).arg(url)).succeeded().out
}

fn last_status(response: &str) -> &str {
    let mut lines = response.lines().filter(|line| line.starts_with("HTTP/"));
    lines.next_back().and_then(|line| line.split(' ').nth(1)).unwrap_or_default()
}

#[test]
fn the_right_password_opens_files_and_programs() {
    let server = serve("Require valid-user");
    for place in PLACES {
        server.get(place).is(401);
        let response = ask(&server, place, "ann:secret", &[]);
        assert_eq!(last_status(&response), "200", "{response}");
        assert!(response.to_ascii_lowercase().contains("\r\nauthentication-info: rspauth=\""), "{response}");
        for user in ["ann:word", "eve:secret", "ann:"] {
            assert_eq!(last_status(&ask(&server, place, user, &[])), "401", "{user}");
        }
    }
    let page = ask(&server, "/perl/x", "ben:word", &[]);
    assert!(page.contains("user=ben env=ben type=Digest"), "{page}");
}

#[test]
fn a_realm_may_depend_on_the_request() {
    let site = site().file("users", &hashed("ann", "secret"));
    let rules = RULES.replace("the area", "%{HTTP:X-Realm}");
    let server = site.file("groups", "staff: ann\n").serve(&conf(&format!("{rules}\nRequire valid-user")));
    for place in PLACES {
        let response = ask(&server, place, "ann:secret", &["-H", "X-Realm: the area"]);
        assert_eq!(last_status(&response), "200", "{response}");
        let response = ask(&server, place, "ann:secret", &["-H", "X-Realm: another"]);
        assert_eq!(last_status(&response), "401", "{response}");
    }
}

#[test]
fn basic_finds_hashes_of_digest_in_the_realm_of_the_request() {
    let site = site().file("users", &hashed("ann", "secret")).file("groups", "");
    let rules =
        RULES.replace("Digest", "Basic\nAuthBasicUseDigestAlgorithm MD5").replace("the area", "%{HTTP:X-Realm}");
    let server = site.serve(&conf(&format!("{rules}\nRequire valid-user")));
    let status = |place: &str, realm: &str| {
        let request = Request::get(place).header("Authorization", "Basic YW5uOnNlY3JldA==");
        server.send(request.header("X-Realm", realm)).status
    };
    for place in PLACES {
        assert_eq!((status(place, "the area"), status(place, "another")), (200, 401), "{place}");
    }
}

#[test]
fn groups_and_rights_hold_as_with_basic() {
    let server = serve("Require group staff");
    for place in PLACES {
        assert_eq!(last_status(&ask(&server, place, "ann:secret", &[])), "200");
        let refused = ask(&server, place, "ben:word", &[]);
        assert_eq!(last_status(&refused), "401");
        assert!(!refused.to_ascii_lowercase().contains("authentication-info"), "{refused}");
    }
}

#[test]
fn nonces_stay_valid_after_a_reload_and_a_request_with_a_body_is_accepted() {
    let server = serve("Require valid-user\nAuthDigestDomain /place/ /perl/");
    let challenge = challenge(&server.get("/perl/x").is(401));
    assert!(challenge.contains(", domain=\"/place/ /perl/\", qop=\"auth\""), "{challenge}");
    let answer = answer_to(&challenge, "/perl/x");
    server.send(Request::get("/perl/x").header("Authorization", &answer)).is(200);
    server.reload().succeeded();
    server.send(Request::get("/perl/x").header("Authorization", &answer)).is(200);
    let posted = ask(&server, "/perl/x", "ann:secret", &["--data", "a=b"]);
    assert_eq!(last_status(&posted), "200", "{posted}");
}

#[test]
fn an_expired_nonce_is_stale() {
    let server = serve("Require valid-user\nAuthDigestNonceLifetime 1");
    for place in PLACES {
        let answer = answer_to(&challenge(&server.get(place).is(401)), place);
        until("the nonce has expired", || {
            let response = server.send(Request::get(place).header("Authorization", &answer));
            response.status == 401 && challenge(&response).contains(", stale=true")
        });
    }
}

#[test]
fn unsupported_settings_are_refused_with_a_reason() {
    for (line, reason) in [
        ("AuthDigestQop auth-int", "expected auth or none"),
        ("AuthDigestAlgorithm MD5-sess", "expected MD5"),
        ("AuthDigestProvider ldap", "a directory has no hashes"),
        ("AuthDigestProvider none", "expected file"),
        ("AuthDigestNonceLifetime 0", "one nonce for each request"),
    ] {
        let site = site();
        site.configure(&conf(&format!("{RULES}\n{line}")));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, reason);
    }
}

fn challenge(response: &Response) -> String {
    response.header("WWW-Authenticate").unwrap_or_default()
}

/// The answer of user ann to a challenge.
fn answer_to(challenge: &str, target: &str) -> String {
    let nonce = challenge.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a nonce");
    let script = "use Digest::MD5 'md5_hex'; my ($n, $t) = @ARGV; \
        my $secret = md5_hex('ann:the area:secret'); my $request = md5_hex(\"GET:$t\"); \
        my $response = md5_hex(\"$secret:$n:00000001:c:auth:$request\"); \
        print qq(Digest username=\"ann\", realm=\"the area\", nonce=\"$n\", uri=\"$t\", qop=auth, nc=00000001, \
        cnonce=\"c\", response=\"$response\")";
    Finished::of(Command::new("perl").args(["-e", script, nonce, target])).succeeded().out
}

#[test]
fn lines_of_httpd_without_an_effect_are_accepted_with_a_warning() {
    let site = Site::new();
    for (line, warning) in [
        ("AuthDigestNcCheck On", "counters of requests are not compared"),
        ("AuthLDAPCharsetConfig conf/charset.conv", "names of users are taken as UTF-8"),
        ("DBDPrepareSQL \"SELECT 1\" one", "no directive uses the statement one by its label"),
    ] {
        site.configure(line);
        let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
        assert!((checked.out + &checked.err).contains(warning), "{line}");
    }
    site.configure("AuthDigestNcCheck Off");
    let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(!checked.err.contains("AuthDigestNcCheck"), "{}", checked.err);
}
