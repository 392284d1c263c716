//! Regular expressions of the main configuration: PCRE2's syntax, and searches without a result.

use crate::support::{Request, Server, Site};

fn serve(conf: &str) -> Server {
    Site::new().file("htdocs/page.txt", "page").file("htdocs/other.txt", "other").serve(conf)
}

#[test]
fn look_around_and_back_references_work_in_every_directive() {
    let server = serve(
        "AliasMatch \"^/alias/(?!shut)(\\w+)$\" @DIR@/htdocs/$1.txt\n\
         RedirectMatch \"^/twice/(\\w+)-\\1$\" http://example.org/$1\n\
         <LocationMatch \"^/(?=pa)\\w+\\.txt$\">\nHeader set Located yes\n</LocationMatch>\n\
         <DirectoryMatch \"(?<=/ht)docs\">\nHeader set Foldered yes\n</DirectoryMatch>\n\
         <FilesMatch \"^(?!page)\">\nHeader set Filed other\n</FilesMatch>\n\
         SetEnvIf X \"^(?>a+)b\" atomic\nHeader set Atomic yes env=atomic\n\
         BrowserMatch \"^(?!Mozilla)\" robot\nHeader set Robot yes env=robot\n\
         Header set Edited aab\nHeader edit Edited \"(a)\\1(?=b)\" c\n\
         Header set Judged yes \"expr=%{HTTP:X} =~ /^(.)\\1/\"\n",
    );
    let field = |target: &str, name: &str, x: &str, agent: &str| {
        server.send(Request::get(target).header("X", x).header("User-Agent", agent)).header(name)
    };
    assert_eq!(server.text("/alias/page"), "page");
    server.get("/alias/shut").is(404);
    assert_eq!(server.get("/twice/ab-ab").is(302).header("Location").as_deref(), Some("http://example.org/ab"));
    server.get("/twice/ab-ac").is(404);
    let yes = Some("yes".to_owned());
    for (target, name, x, agent, expected) in [
        ("/page.txt", "Located", "", "", &yes),
        ("/other.txt", "Located", "", "", &None),
        ("/page.txt", "Foldered", "", "", &yes),
        ("/other.txt", "Filed", "", "", &Some("other".to_owned())),
        ("/page.txt", "Filed", "", "", &None),
        ("/page.txt", "Atomic", "aab", "", &yes),
        ("/page.txt", "Robot", "", "Bot", &yes),
        ("/page.txt", "Robot", "", "Mozilla/5", &None),
        ("/page.txt", "Edited", "", "", &Some("cb".to_owned())),
        ("/page.txt", "Judged", "aab", "", &yes),
        ("/page.txt", "Judged", "ab", "", &None),
    ] {
        assert_eq!(field(target, name, x, agent), *expected, "{target} {name} {x} {agent}");
    }
}

/// A pattern that takes more steps than permitted on a long row of `a`.
const EXPLODES: &str = "(a+)+[bc]";

#[test]
fn a_pattern_that_explodes_denies_the_request_wherever_it_stands() {
    let long = "a".repeat(3000);
    for (conf, target) in [
        (
            format!(
                "SetEnvIf X \"{EXPLODES}\" evil\n<Location />\nOrder Allow,Deny\nAllow from all\nDeny from env=evil\n</Location>"
            ),
            "/page.txt",
        ),
        (format!("<Location />\nRequire expr \"! (%{{HTTP:X}} =~ /{EXPLODES}/)\"\n</Location>"), "/page.txt"),
        (format!("RewriteEngine On\nRewriteCond %{{HTTP:X}} {EXPLODES}\nRewriteRule ^ - [F]"), "/page.txt"),
        (format!("RewriteEngine On\nRewriteRule {EXPLODES} - [F]"), "/@"),
        (format!("<LocationMatch \"{EXPLODES}\">\nRequire all denied\n</LocationMatch>"), "/@"),
        (format!("<DirectoryMatch \"{EXPLODES}\">\nRequire all denied\n</DirectoryMatch>"), "/@"),
        (format!("<FilesMatch \"{EXPLODES}\">\nRequire all denied\n</FilesMatch>"), "/@"),
        (format!("RedirectMatch \"{EXPLODES}\" http://example.org/"), "/@"),
        (format!("AliasMatch \"{EXPLODES}\" @DIR@/none"), "/@"),
        (format!("RequestHeader edit X \"{EXPLODES}\" b"), "/page.txt"),
    ] {
        let server = serve(&format!("\n{conf}"));
        let target = target.replace('@', &long);
        let status = server.send(Request::get(&target).header("X", &long)).status;
        assert_eq!(status, 500, "{conf}");
        let log = server.logged("needs too many steps for a text of");
        assert!(log.contains("site.conf:") && log.contains(EXPLODES), "{log}");
        assert_eq!(server.text("/page.txt"), "page", "{conf}");
        assert_eq!(server.log().matches("too many steps").count(), 1, "{}", server.log());
    }
}

#[test]
fn a_pattern_matches_bytes_and_utf_8_on_demand() {
    let server = serve(
        "RewriteEngine On\nRewriteRule \"^/caf\\xe9$\" /page.txt\nRewriteRule \"(*UTF)^/.$\" /other.txt\nRewriteRule \"^/b/..$\" /page.txt",
    );
    assert_eq!(server.text("/caf%e9"), "page");
    assert_eq!(server.text("/%c3%a9"), "other");
    assert_eq!(server.text("/b/%c3%a9"), "page");
}
