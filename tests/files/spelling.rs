//! Names that are nearly right, indexes by redirect, tracking cookies: mod/mod_speling.html, mod/mod_dir.html,
//! mod/mod_usertrack.html.

use std::path::Path;

use super::aside::threads;
use crate::support::{Request, Site, serve_echo_script as serve};

#[test]
fn a_name_with_one_mistake_leads_to_the_file() {
    let server = serve("CheckSpelling On\n<Location /case>\nCheckCaseOnly On\nCheckBasenameMatch Off\n</Location>");
    server.site.write("htdocs/Folder/inner.html", "inner");
    server.site.write("htdocs/case/Page.html", "page");
    for (path, expected) in [
        ("/PAGE.html?a=b", "/page.html?a=b"),
        ("/pgae.html", "/page.html"),
        ("/folder/inner.html", "/Folder/inner.html"),
        ("/case/page.html", "/case/Page.html"),
    ] {
        let location = server.get(path).is(301).header("location").expect("a location");
        assert!(location.starts_with("http://") && location.ends_with(expected), "{path}: {location}");
    }
    assert!(
        server.get("/page.txt").is(300).text().contains("<li><a href=\"/page.html\">/page.html</a> (common basename)")
    );
    server.get("/case/pgae.html").is(404);
    server.get("/quite-different").is(404);
    server.post("/PAGE.html", "x").is(404);
}

#[test]
fn a_similar_name_that_the_client_may_not_read_is_not_named() {
    let server = serve("CheckSpelling On\n<Files secret.html>\nRequire all denied\n</Files>");
    server.site.write("htdocs/secret.html", "secret");
    let answer = server.get("/secert.html").is(404);
    assert!(!answer.text().contains("secret"));
}

#[test]
fn a_similar_name_is_judged_by_the_sections_of_its_own_path_and_file() {
    let server = serve(
        "CheckSpelling On\n<Location /secret.html>\nRequire all denied\n</Location>\n\
         <Directory \"@DIR@/htdocs/Inner\">\nRequire all denied\n</Directory>",
    );
    server.site.write("htdocs/secret.html", "secret");
    server.site.write("htdocs/Inner/a.html", "inner");
    for path in ["/secert.html", "/inner/a.html"] {
        let answer = server.get(path).is(404).text();
        assert!(!answer.contains("secret") && !answer.contains("Inner"), "{path}: {answer}");
    }
}

#[test]
fn an_index_may_be_a_redirect_and_a_handler_may_take_the_folder() {
    let server = serve(
        "<Location /moved>\nDirectoryIndexRedirect permanent\n</Location>\n\
         <Location /there>\nAlias \"@DIR@/htdocs/plain.txt\"\n</Location>",
    );
    server.site.write("htdocs/moved/index.html", "index");
    assert_eq!(server.get("/moved/").is(301).header("location").as_deref(), Some("http://localhost/moved/index.html"));
    assert_eq!(server.text("/moved/index.html"), "index");
    assert_eq!((server.text("/there"), server.text("/there/any")), ("plain\n".to_owned(), "plain\n".to_owned()));
}

#[test]
fn a_client_without_a_tracking_cookie_gets_a_cookie() {
    let server =
        serve("CookieTracking On\nCookieName seen\nCookieExpires \"1 day\"\nCookieStyle Cookie\nCookieSameSite lax");
    let cookie = server.get("/plain.txt").is(200).header("set-cookie").expect("a cookie");
    assert!(
        cookie.starts_with("seen=127.0.0.1.") && cookie.ends_with("; path=/; max-age=86400; SameSite=Lax"),
        "{cookie}"
    );
    let known = cookie.split(';').next().expect("a pair");
    let again = server.send(Request::get("/plain.txt").header("Cookie", &format!("a=b; {known}")));
    assert_eq!(again.header("set-cookie"), None);
}

/// mod/mod_userdir.html. The main server's UserDir is inherited; a host may close it.
#[test]
fn users_have_folders() {
    let server = serve(
        "UserDir \"@DIR@/users/*/www\"\nUserDir disabled root\n\
         <VirtualHost *>\nServerName away.example\nUserDir http://www.example/*\n</VirtualHost>\n\
         <VirtualHost *>\nServerName closed.example\nUserDir disabled\n</VirtualHost>",
    );
    for name in ["bob", "root"] {
        server.site.write(&format!("users/{name}/www/a.txt"), name);
    }
    let ask = |host: &str, path: &str| server.send(Request::get(path).header("Host", host));
    // The first virtual host is for all other names, too.
    ask("closed.example", "/~bob/a.txt").is(404);
    let location = ask("away.example", "/~bob/a.txt").is(302).header("location");
    assert_eq!(location.as_deref(), Some("http://www.example/bob/a.txt"));
    let server = serve("UserDir \"@DIR@/users/*/www\"\nUserDir disabled root");
    for name in ["bob", "root"] {
        server.site.write(&format!("users/{name}/www/a.txt"), name);
    }
    assert_eq!(server.text("/~bob/a.txt"), "bob");
    server.get("/~root/a.txt").is(404);
    server.get("/~../users/bob/www/a.txt").is(404);
}

#[test]
fn a_user_has_the_first_folder_that_exists() {
    let server = serve(
        "Alias /~alias \"@DIR@/alias\"\nUserDir disabled root\n\
         UserDir \"@DIR@/first\" \"@DIR@/second/*/www\" http://www.example/*",
    );
    for (file, text) in [
        ("first/ann/a.txt", "ann"),
        ("second/bob/www/a.txt", "bob"),
        ("alias/a.txt", "alias"),
        ("first/root/a.txt", ""),
    ] {
        server.site.write(file, text);
    }
    for name in ["ann", "bob", "alias"] {
        assert_eq!(server.text(&format!("/~{name}/a.txt")), name);
    }
    server.get("/~ann/none.txt").is(404);
    server.get("/~../second/bob/www/a.txt").is(404);
    server.get("/~root/a.txt").is(404);
    let away = server.get("/~carl/a.txt").is(302).header("location");
    assert_eq!(away.as_deref(), Some("http://www.example/carl/a.txt"));
    // The choice is not remembered: the next request finds a folder that did not exist before.
    server.site.write("first/carl/a.txt", "carl");
    assert_eq!(server.text("/~carl/a.txt"), "carl");
}

/// Debian's user `sys` has the home `/dev`.
#[test]
fn a_folder_in_the_home_of_a_user_is_found() {
    let server = serve("UserDir none-such shm");
    let file = format!("cameleer-{}.txt", std::process::id());
    std::fs::write(Path::new("/dev/shm").join(&file), "of sys").expect("a file in /dev/shm");
    let page = server.get(&format!("/~sys/{file}"));
    std::fs::remove_file(Path::new("/dev/shm").join(&file)).expect("removed");
    assert_eq!(page.is(200).text(), "of sys");
    assert_eq!(threads(&server, "cameleer-users"), 1, "homes are looked up on threads of their own");
    server.get(&format!("/~sys/{file}")).is(404);
    for unknown in ["none-such-user", "sys%00", "%FF", &"x".repeat(3000)] {
        let status = server.get(&format!("/~{unknown}/a.txt")).status;
        assert!((400..500).contains(&status), "{unknown}: {status}");
    }
    for _ in 0..2 {
        server.get("/~none-such-user/a.txt").is(404);
    }
    server.get(&format!("/~{}/a.txt", "x".repeat(300))).is(404);
}

#[test]
fn wrong_values_are_named() {
    for (line, message) in [
        ("CookieDomain example.com", "expected a domain that begins with a dot"),
        ("CookieExpires \"3 fortnights\"", "expected a number of seconds, or numbers with units"),
        ("CookieStyle Round", "expected Netscape, Cookie, Cookie2, RFC2109 or RFC2965"),
        (
            "UserDir home/*",
            "expected a folder's name without * and .., which is in the home of each user, got \"home/*\"",
        ),
        (
            "UserDir a ../b",
            "expected a folder's name without * and .., which is in the home of each user, got \"../b\"",
        ),
        ("UserDir /a/*/*", "expected a path with at most one * and without $"),
        ("DirectoryIndexRedirect 404", "a status from 300 to 399"),
    ] {
        let site = Site::new();
        site.configure(&format!("\n{line}\n"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, message);
    }
}
