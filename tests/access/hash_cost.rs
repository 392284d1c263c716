//! Expensive password hashes: the author of a password file chooses their cost. A hash above the limit is refused
//! before it is computed; hashes below it are computed in turns.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{basic, get_as};
use crate::support::{Server, Site, peak_memory};

/// The bcrypt hash of `secret` with cost 4.
const CHEAP: &str = "$2y$04$q9I3rMaXvskYsf3pT5wpveQmsqGDiiPbayt6hGJvaD3DMRCoHJEgi";
/// A bcrypt hash with another cost; its password is unknown.
fn bcrypt(cost: u32) -> String {
    format!("$2y${cost:02}$q9I3rMaXvskYsf3pT5wpveQmsqGDiiPbayt6hGJvaD3DMRCoHJEgi")
}

fn folder(site: Site, name: &str, users: &str) -> Site {
    let rules = format!("AuthType Basic\nAuthName x\nAuthUserFile @DIR@/{name}.users\nRequire valid-user\n");
    site.file(&format!("htdocs/{name}/.htaccess"), &rules)
        .file(&format!("htdocs/{name}/page"), "inside")
        .file(&format!("{name}.users"), users)
}

#[track_caller]
fn serve(site: Site) -> Server {
    let led = "package Led; sub handler { my $r = shift; $r->internal_redirect(scalar $r->args); 0 }\n1;\n";
    site.file("lib/Led.pm", led).serve(
        "PerlLib lib\nPerlModule Led\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         <Location /led>\nSetHandler perl-script\nPerlHandler Led\n</Location>\n",
    )
}

#[test]
fn a_too_expensive_hash_is_refused_and_logged_with_file_and_line() {
    let kinds = [
        ("bcrypt", bcrypt(31), "the cost of this bcrypt hash is 31, but the limit is 14"),
        ("sha512", "$6$rounds=999999999$salt$x".to_owned(), "has 999999999 rounds, but the limit is 1000000"),
        ("sha256", "$5$rounds=1000001$salt$x".to_owned(), "has 1000001 rounds, but the limit is 1000000"),
        ("scrypt", "$7$I6..../....saltsaltsalt$x".to_owned(), "takes 1024 MB, but the limit is 32 MB"),
        ("yescrypt", "$y$jFT$saltsalt$x".to_owned(), "takes 1024 MB, but the limit is 32 MB"),
        ("times", "$y$j9T5zzzzz$saltsalt$x".to_owned(), "unknown parameters of this yescrypt hash"),
    ];
    let mut site = Site::new();
    for (name, hash, _) in &kinds {
        site = folder(site, name, &format!("# staff\nben:{CHEAP}\nana:{hash}\n"));
    }
    let server = serve(site);
    let before = peak_memory(server.front());
    for (name, _, expected) in &kinds {
        server.send(get_as(&format!("/{name}/page"), "ana", "secret")).is(500);
        server.logged(&server.site.filled(&format!("@DIR@/{name}.users:3: user ana: ")));
        server.logged(expected);
        server.send(get_as(&format!("/led?/{name}/page"), "ana", "secret")).is(500);
        server.send(get_as(&format!("/{name}/page"), "ben", "secret")).is(200);
    }
    let peak = peak_memory(server.front()) - before;
    assert!(peak < 32 << 20, "the front needed {peak} bytes more");
}

#[test]
fn a_folder_waits_for_few_password_hashes_of_another_folder() {
    const GUESSES: usize = 40;
    let users: String = (0..GUESSES).map(|n| format!("u{n}:{}\n", bcrypt(11))).collect();
    let mut site = folder(Site::new(), "victim", &format!("ana:{CHEAP}\n"));
    for number in 0..GUESSES {
        site = folder(site, &format!("evil/{number}"), &users);
    }
    std::fs::create_dir_all(site.path("evil")).expect("a folder");
    let server = serve(site);
    let answered = AtomicUsize::new(0);
    let before = std::thread::scope(|scope| {
        let mut guesses: Vec<_> = (0..GUESSES).map(|_| server.connect()).collect();
        for (number, guess) in guesses.iter_mut().enumerate() {
            let credentials = basic(&format!("u{number}"), "guess");
            guess.raw(format!(
                "GET /evil/{number}/page HTTP/1.1\r\nHost: localhost\r\nAuthorization: {credentials}\r\n\r\n"
            ));
        }
        for mut guess in guesses {
            let answered = &answered;
            scope.spawn(move || {
                guess.response().is(401);
                answered.fetch_add(1, Ordering::SeqCst);
            });
        }
        server.send(get_as("/victim/page", "ana", "secret")).is(200);
        answered.load(Ordering::SeqCst)
    });
    assert!(before < GUESSES / 2, "{before} guesses were answered before the owner of another folder");
    assert_eq!(answered.into_inner(), GUESSES);
}

#[test]
fn limit_password_hash_limits_the_cost_of_hashes() {
    let users = format!("ana:{}\nben:{CHEAP}\n", bcrypt(5));
    let rules = "AuthType Basic\nAuthName x\nAuthUserFile users\nRequire valid-user\n";
    let site = || Site::new().file("users", &users).file("htdocs/page", "inside");
    let place = format!("<Location />\n{rules}</Location>\n");
    let server = site().serve(&format!("LimitPasswordHash bcrypt=4\n{place}"));
    server.send(get_as("/page", "ana", "secret")).is(500);
    server.logged("users:1: user ana: the cost of this bcrypt hash is 5, but the limit is 4");
    server.send(get_as("/page", "ben", "secret")).is(200);
    let server = site().serve(&place);
    server.send(get_as("/page", "ana", "wrong")).is(401);
    for (wrong, expected) in [("bcrypt=99", "a cost from 4 to 31"), ("md5=1", "expected bcrypt=, rounds= or memory=")] {
        let site = site();
        site.configure(&format!("LimitPasswordHash {wrong}\n"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, expected);
    }
}
