//! `cameleer diff-sites`: two servers of one site, by the requests of an access log.

use crate::support::{Address, Server, Site};

/// Each page has a time and the server's own address, as pages of applications do.
const PAGE: &str = "#!/usr/bin/perl\nuse Time::HiRes;\n\
    print \"Content-Type: text/html\\nSet-Cookie: id=$$; path=/\\n\\n\";\n\
    print \"<a href='http://$ENV{HTTP_HOST}/x'>x</a>\\n<p>made at \", Time::HiRes::time(), \"</p>\\n<p>@WORD@</p>\\n\";\n";
const CONF: &str = "ScriptAlias /cgi-bin/ @DIR@/cgi-bin/\n";

fn serve(word: &str, more: &str) -> Server {
    let site = Site::new()
        .script("cgi-bin/page", &PAGE.replace("@WORD@", word))
        .file("htdocs/plain.txt", "plain\n")
        .file("htdocs/a picture.gif", "GIF\0");
    site.serve(&format!("{CONF}{more}"))
}

fn url(server: &Server) -> String {
    let Address::Tcp(port) = server.site.address() else { unreachable!("the site listens on TCP") };
    format!("http://127.0.0.1:{port}")
}

/// A log of the site with these paths.
fn log(server: &Server, paths: &[&str]) -> String {
    let line = |path: &&str| format!("::1 - - [10/Oct/2025:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 5\n");
    let posts = "::1 - - [10/Oct/2025:13:55:37 +0000] \"POST /cgi-bin/post HTTP/1.1\" 200 5\n";
    server.site.write("access.log", &(paths.iter().map(line).collect::<String>() + posts));
    server.site.path("access.log").display().to_string()
}

#[test]
fn pages_that_differ_by_time_and_address_alone_are_alike() {
    let (old, new) = (serve("same", ""), serve("same", ""));
    let log = log(&old, &["/cgi-bin/page?a=b", "/plain.txt", "/a%20picture.gif", "/none", "/plain.txt"]);
    // The files of the two sites may have been written in different seconds.
    let options = ["diff-sites", &url(&old), &url(&new), "--log", &log, "--ignore-header", "last-modified"];
    let compared = old.site.cameleer(options).succeeded();
    assert_eq!(compared.out, "4 of 4 pages are alike, 0 differ\n", "{compared:?}");
}

#[test]
fn each_difference_is_named_with_its_page() {
    let old = serve("old", "");
    let new = serve("new", "Redirect /plain.txt http://elsewhere/\nHeader set X-More yes\n");
    new.site.write("htdocs/a picture.gif", "GIF89\0");
    let log = log(&old, &["/cgi-bin/page", "/plain.txt", "/a%20picture.gif"]);
    let compared = old.site.cameleer(["diff-sites", &url(&old), &url(&new), "--log", &log]).failed(1, "3 of 3 pages");
    for expected in [
        "/cgi-bin/page\n    x-more: absent, new yes\n    body, from line 3:\n      - <p>old</p>\n      + <p>new</p>\n",
        "/plain.txt\n    status: 200, new 302\n",
        "    body: 4 bytes, new 6 bytes, not the same\n",
        "0 of 3 pages are alike, 3 differ\n",
    ] {
        assert!(compared.out.contains(expected), "{expected}: {}", compared.out);
    }
    let json = old.site.cameleer(["diff-sites", &url(&old), &url(&new), "--path", "/plain.txt", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["pages"][0]["differences"][0]["kind"], "status");
}

#[test]
fn headers_can_be_set_and_left_out() {
    let (old, new) = (serve("same", ""), serve("same", "Header set X-More yes\n"));
    let compared = |more: &[&str]| {
        let mut command = old.site.command(["diff-sites", &url(&old), &url(&new), "--path", "/cgi-bin/page"]);
        crate::support::Finished::of(command.args(more))
    };
    compared(&[]).failed(1, "1 of 1 pages");
    compared(&["--ignore-header", "X-More", "--host", "www.example.org"]).succeeded();
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let old = serve("same", "");
    let nowhere = crate::support::Site::new();
    let Address::Tcp(port) = nowhere.address() else { unreachable!("the site listens on TCP") };
    let new = format!("http://127.0.0.1:{port}");
    let compared = old.site.cameleer(["diff-sites", &url(&old), &new]).failed(1, "1 of 1 pages");
    assert!(compared.out.contains("    the new server: "), "{compared:?}");
}
