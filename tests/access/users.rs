//! Basic authentication with password files made by htpasswd and openssl.

use std::process::Command;
use std::time::Duration;

use super::{PLACES, conf, get_as, site};
use crate::support::{Finished, Request, Server, first_and_other_threads, threads, until};

const RULES: &str = "AuthType Basic\nAuthName \"Members \\\"only\\\"\"\nAuthUserFile @DIR@/users\nAuthGroupFile groups";

fn serve(users: &str, require: &str) -> Server {
    let site = site().file("users", users).file("groups", "# who is who\nstaff: ana ben\nguests: eve\n");
    site.serve(&conf(&format!("{RULES}\n{require}")))
}

/// `user:hash` made by a program. The tests need both programs' packages.
fn made(program: &str, arguments: &[&str]) -> String {
    Finished::of(Command::new(program).args(arguments)).succeeded().out.trim().to_owned()
}

fn htpasswd(how: &str, user: &str, password: &str) -> String {
    made("htpasswd", &["-nb", how, user, password])
}

fn openssl(how: &str, user: &str, password: &str) -> String {
    format!("{user}:{}", made("openssl", &["passwd", how, password]))
}

#[test]
fn order_in_an_inner_section_takes_satisfy_any_back() {
    let login = "AuthType Basic\nAuthName x\nAuthUserFile users\nRequire user ana\n";
    let open = "Order deny,allow\nDeny from all\nAllow from 127.0.0.1\n";
    let folder = |name: &str, inside: &str| format!("<Directory @DIR@/htdocs/{name}>\n{inside}</Directory>\n");
    let conf = folder("a", &format!("AllowOverride All\n{login}{open}Satisfy any\n"))
        + &folder("a/anew", open)
        + &folder("a/any", &format!("Satisfy Any\n{open}"))
        + &folder("a/kept", "Require user ben\n")
        + "<Location /a/place>\nAllow from 127.0.0.1\n</Location>\n";
    let folders = ["", "anew/", "any/", "kept/", "place/", "own/"];
    let site = folders.iter().fold(site(), |site, name| site.file(&format!("htdocs/a/{name}x.txt"), "x"));
    let server = site.file("htdocs/a/own/.htaccess", "Allow from 127.0.0.1\n").serve(&conf);
    for (folder, status) in folders.iter().zip([200, 401, 200, 200, 401, 401]) {
        let answer = server.get(&format!("/a/{folder}x.txt"));
        assert_eq!(answer.status, status, "{folder}");
    }
    let checked = server.site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let named: Vec<_> =
        checked.err.lines().chain(checked.out.lines()).filter(|line| line.contains("Satisfy Any of line")).collect();
    assert_eq!(named.len(), 1, "{checked:?}");
}

#[test]
fn satisfy_alone_opens_nothing_and_check_names_the_place() {
    let folder = |name: &str, inside: &str| format!("<Directory @DIR@/htdocs/{name}>\n{inside}</Directory>\n");
    let conf = folder("a", "Order deny,allow\nDeny from all\n")
        + &folder("a/alone", "Satisfy Any\n")
        + &folder("a/whole", "Satisfy Any\nOrder allow,deny\nAllow from all\n");
    let site = site().file("htdocs/a/alone/x.txt", "x").file("htdocs/a/whole/x.txt", "x");
    let server = site.serve(&conf);
    server.get("/a/alone/x.txt").is(403);
    server.get("/a/whole/x.txt").is(200);
    let checked = server.site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let named: Vec<_> = checked
        .err
        .lines()
        .chain(checked.out.lines())
        .filter(|line| line.contains("httpd 2.4 drops them here"))
        .collect();
    assert!(matches!(named[..], [line] if line.contains("a/alone")), "{checked:?}");
}

#[test]
fn every_kind_of_hash_opens_and_plain_text_does_not() {
    let users = [
        htpasswd("-m", "apr1", "pass word"),
        htpasswd("-B", "bcrypt", "pass word"),
        htpasswd("-s", "sha", "pass word"),
        htpasswd("-d", "des", "pass wor"),
        openssl("-1", "md5", "pass word"),
        openssl("-5", "sha256", "pass word"),
        openssl("-6", "sha512", "pass word"),
        "plain:pass word".to_owned(),
        "locked:*0".to_owned(),
    ];
    let server = serve(&users.join("\n"), "Require valid-user");
    for place in PLACES {
        for user in ["apr1", "bcrypt", "sha", "md5", "sha256", "sha512"] {
            server.send(get_as(place, user, "pass word")).is(200);
            server.send(get_as(place, user, "pass word")).is(200);
            server.send(get_as(place, user, "pass-word")).is(401);
            server.send(get_as(place, user, "")).is(401);
        }
        server.send(get_as(place, "des", "pass wor")).is(200);
        server.send(get_as(place, "plain", "pass word")).is(401);
        server.send(get_as(place, "locked", "*0")).is(401);
        server.send(get_as(place, "nobody", "pass word")).is(401);
    }
    assert!(server.logged("user apr1: password mismatch").contains("[client 127.0.0.1:"));
    assert!(!server.log().contains("pass-word"), "a password is in the log");
}

#[test]
fn a_client_without_credentials_is_answered_401() {
    let server = serve(&htpasswd("-s", "ana", "a"), "Require valid-user");
    for place in PLACES {
        let response = server.get(place).is(401);
        assert_eq!(response.header("WWW-Authenticate").as_deref(), Some(r#"Basic realm="Members \"only\"""#));
        for header in ["Basic", "Basic !!!", "Digest username=\"ana\"", "Basic YW5h"] {
            server.send(Request::get(place).header("Authorization", header)).is(401);
        }
    }
}

#[test]
fn programs_and_the_access_log_learn_the_user() {
    let site = site().file("users", &htpasswd("-s", "ana", "a"));
    let server = site.serve(
        &format!("CustomLog access.log \"%u %U\"\n{}", conf(&format!("{RULES}\nRequire valid-user")))
            .replace("AuthGroupFile groups", ""),
    );
    let body = server.send(get_as("/perl/x", "ana", "a")).is(200).text();
    assert_eq!(body, "user=ana env=ana type=Basic host=-");
    server.send(get_as("/place/", "ana", "a")).is(200);
    server.get("/place/").is(401);
    until("the log has three lines", || {
        server.site.read("access.log") == "ana /perl/x\nana /place/index.html\n- /place/\n"
    });
}

#[test]
fn users_and_groups_are_required_one_by_one() {
    let users = ["ana", "ben", "eve"].map(|user| htpasswd("-s", user, "x")).join("\n");
    // (rules, users with access)
    let cases: &[(&str, &[&str])] = &[
        ("Require valid-user", &["ana", "ben", "eve"]),
        ("Require user ana eve", &["ana", "eve"]),
        ("Require group staff", &["ana", "ben"]),
        ("Require group none", &[]),
        ("Require user eve\nRequire group staff", &["ana", "ben", "eve"]),
        ("<RequireAll>\nRequire valid-user\nRequire not user ben\n</RequireAll>", &["ana", "eve"]),
        ("Satisfy Any\nOrder Allow,Deny\nAllow from 127.0.0.1\nRequire user ana", &["ana", "ben", "eve", "-"]),
        ("Satisfy Any\nOrder Allow,Deny\nAllow from 127.0.0.2\nRequire user ana", &["ana"]),
        ("Satisfy All\nOrder Allow,Deny\nAllow from 127.0.0.2\nRequire user ana", &[]),
    ];
    for (rules, welcome) in cases {
        let server = serve(&users, rules);
        for user in ["ana", "ben", "eve", "-"] {
            for place in PLACES {
                let is_in = server.send(get_as(place, user, "x")).status == 200;
                assert_eq!(is_in, welcome.contains(&user), "{rules}\n{user} {place}");
            }
        }
    }
}

#[test]
fn a_changed_file_is_noticed_within_a_second() {
    let server = serve(&htpasswd("-s", "ana", "old"), "Require group staff");
    server.send(get_as("/place/", "ana", "old")).is(200);
    server.site.write("users", &htpasswd("-B", "ana", "new"));
    until("the new password opens", || server.send(get_as("/place/", "ana", "new")).status == 200);
    server.send(get_as("/place/", "ana", "old")).is(401);
    server.site.write("groups", "staff: ben\n");
    until("the group has lost her", || server.send(get_as("/place/", "ana", "new")).status == 401);
}

#[test]
fn a_psgi_application_learns_the_user() {
    let site = site().file("users", &htpasswd("-s", "ana", "a")).file(
        "app.psgi",
        "sub { my $env = shift; [200, ['Content-Type', 'text/plain'], [join ' ', @$env{qw(REMOTE_USER AUTH_TYPE)}]] }",
    );
    let server = site.serve(
        &format!("<Location /app>\nPsgiApp app.psgi\n{RULES}\nRequire valid-user\n</Location>")
            .replace("AuthGroupFile groups", ""),
    );
    server.get("/app/x").is(401);
    assert_eq!(server.send(get_as("/app/x", "ana", "a")).is(200).text(), "ana Basic");
}

/// CPU time of the front's `cameleer-` threads.
fn computed(server: &Server) -> Duration {
    threads(server.front()).iter().filter(|(name, _)| name.starts_with("cameleer-")).map(|(_, used)| *used).sum()
}

/// bcrypt with 2^12 rounds takes 0.2 s or more. Other clients do not wait for it, and its result is remembered.
#[test]
fn a_slow_hash_is_paid_once_and_by_its_user_only() {
    let slow = made("htpasswd", &["-nbB", "-C", "12", "ana", "x"]);
    let server = serve(&slow, "Require valid-user");
    server.send(get_as("/place/", "ana", "x")).is(200);
    let first = computed(&server);
    for _ in 0..20 {
        server.send(get_as("/place/", "ana", "x")).is(200);
    }
    let others = computed(&server).saturating_sub(first);
    assert!(first > Duration::ZERO && others < first, "20 requests took {others:?}, the first alone {first:?}");
}

#[test]
fn a_slow_hash_delays_no_other_request() {
    let slow = made("htpasswd", &["-nbB", "-C", "13", "ana", "x"]);
    let site = site().file("users", &slow).file("groups", "staff: ana\n").file("htdocs/open.html", "open");
    let server = site.serve(&format!("FrontThreads 1\n{}", conf(&format!("{RULES}\nRequire valid-user"))));
    let (clients, others) = first_and_other_threads(server.front(), || {
        std::thread::scope(|scope| {
            let guesser = scope.spawn(|| server.send(get_as("/place/", "ana", "wrong")).is(401));
            server.get("/open.html").is(200);
            guesser.join().expect("the guess is refused");
        });
    });
    assert!(others > clients, "{clients:?} on the thread that answers clients, {others:?} on others");
}

#[test]
fn a_missing_file_is_a_server_error_that_names_it() {
    let cases = [
        ("Require valid-user", "AuthType Basic or Digest and AuthName"),
        ("AuthType Basic\nAuthName x\nAuthUserFile none\nRequire valid-user", "AuthUserFile: @DIR@/none: No such file"),
    ];
    for (rules, message) in cases {
        let server = site().serve(&conf(rules));
        for place in PLACES {
            server.send(get_as(place, "ana", "x")).is(500);
        }
        server.logged(&server.site.filled(message));
    }
}
