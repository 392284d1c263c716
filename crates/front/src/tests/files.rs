//! Files that the front sends itself.

use std::os::unix::fs::symlink;

use super::Server;
use super::worker::Script;

const SITE: &str = "DocumentRoot ROOT/www\nDirectoryIndex index.html index.cgi\nAddType text/x-perl .pl\n";

fn site(more: &str) -> Server {
    let server = Server::with_workers(&format!("{SITE}{more}"), 1, Script::default());
    server.file("www/a.txt", "0123456789");
    server.file("www/sub/index.html", "<p>index");
    server.file("www/empty.css", "");
    server.file("www/x.pl", "print 1");
    server.file("www/x.unknownext", "?");
    server.file("www/.htpasswd", "secret");
    server
}

#[test]
fn a_file_is_sent_with_what_is_known_of_it() {
    let server = site("");
    let mut client = server.client();
    let answer = client.get("/a.txt?x");
    assert_eq!((answer.status, answer.text().as_str()), (200, "0123456789"));
    assert_eq!(answer.header("content-type"), "text/plain");
    assert_eq!(answer.header("accept-ranges"), "bytes");
    assert_eq!(client.get_with("/a.txt", &format!("If-None-Match: {}\r\n", answer.header("etag"))).status, 304);
    assert_eq!(
        client.get_with("/a.txt", &format!("If-Modified-Since: {}\r\n", answer.header("last-modified"))).status,
        304
    );
    assert_eq!(client.get_with("/a.txt", "If-Match: \"x\"\r\n").status, 412);
    client.send("HEAD /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.answer_to("HEAD").header("content-length"), "10");
    let empty = client.get("/empty.css");
    assert_eq!((empty.status, empty.header("content-length"), empty.header("content-type")), (200, "0", "text/css"));
    assert_eq!(client.get("/x.pl").header("content-type"), "text/x-perl");
    assert_eq!(client.get("/x.unknownext").header("content-type"), "");
}

#[test]
fn paths_that_lead_nowhere_are_refused() {
    let server = site("");
    let mut client = server.client();
    let cases = [
        ("/none", 404),
        ("/a.txt/more", 404),
        ("/a.txt/", 404),
        ("/sub/none/none", 404),
        ("/", 403),
        ("/.htpasswd", 403),
        ("/%ff%fe", 404),
        ("/a%0ab", 404),
        ("/sub/", 200),
        ("/sub/index.html", 200),
    ];
    for (path, expected) in cases {
        assert_eq!(client.get(path).status, expected, "{path}");
    }
    assert_eq!(client.get(&format!("/{}", "x".repeat(5000))).status, 404);
    assert_eq!(client.get(&format!("/{}", "x/".repeat(3000))).status, 414);
    let answer = client.send("DELETE /a.txt HTTP/1.1\r\nHost: a\r\n\r\n").answer();
    assert_eq!((answer.status, answer.header("allow")), (405, "GET, HEAD, OPTIONS"));
}

#[test]
fn a_folder_without_a_slash_is_redirected_on_this_host() {
    let server = site("");
    let mut client = server.client();
    let cases = [("/sub?a=b", "/sub/?a=b"), ("//sub", "/sub/"), ("/./sub", "/sub/"), ("/s%75b", "/sub/")];
    for (path, location) in cases {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.header("location")), (301, location), "{path}");
    }
}

#[test]
fn parts_of_a_file_are_sent() {
    let server = site("");
    let mut client = server.client();
    let answer = client.get_with("/a.txt", "Range: bytes=2-4\r\n");
    assert_eq!((answer.status, answer.text().as_str()), (206, "234"));
    assert_eq!(answer.header("content-range"), "bytes 2-4/10");
    let answer = client.get_with("/a.txt", "Range: bytes=20-\r\n");
    assert_eq!((answer.status, answer.header("content-range")), (416, "bytes */10"));
    assert_eq!(client.get_with("/a.txt", "Range: bytes=2-4\r\nIf-Range: \"x\"\r\n").status, 200);
    let answer = client.get_with("/a.txt", "Range: bytes=0-1,-2\r\n");
    assert_eq!(answer.status, 206);
    let boundary = answer.header("content-type").strip_prefix("multipart/byteranges; boundary=").expect("a boundary");
    let part = |range: &str, text: &str| {
        format!("\r\n--{boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes {range}/10\r\n\r\n{text}")
    };
    assert_eq!(answer.text(), format!("{}{}\r\n--{boundary}--\r\n", part("0-1", "01"), part("8-9", "89")));
}

#[test]
fn a_large_file_is_sent_whole() {
    let server = site("");
    let bytes: Vec<u8> = (0..1_000_003).map(|i| (i % 249) as u8).collect();
    server.file("www/large.bin", &bytes);
    let mut client = server.client();
    assert!(client.get("/large.bin").body == bytes);
    let answer = client.get_with("/large.bin", "Range: bytes=1-900000\r\n");
    assert!(answer.body == bytes[1..=900_000]);
}

#[test]
fn symbolic_links_are_followed_only_where_options_say_so() {
    let server = site(
        "<Directory ROOT/www/safe>\nOptions None\n</Directory>\n<Directory ROOT/www/own>\nOptions SymLinksIfOwnerMatch\n</Directory>\n",
    );
    server.file("www/safe/real.txt", "real");
    server.file("www/own/real.txt", "real");
    for folder in ["www", "www/safe", "www/own"] {
        symlink(server.root().join("www/a.txt"), server.root().join(folder).join("link.txt")).expect("linked");
    }
    symlink("/etc", server.root().join("www/safe/etc")).expect("linked");
    let mut client = server.client();
    for (path, expected) in
        [("/link.txt", 200), ("/safe/real.txt", 200), ("/safe/link.txt", 403), ("/own/link.txt", 200)]
    {
        assert_eq!(client.get(path).status, expected, "{path}");
    }
    assert_eq!(client.get("/safe/etc/passwd").status, 403);
}

#[test]
fn a_script_is_handed_to_a_worker_and_never_sent() {
    let server = site("<Files *.cgi>\nSetHandler cgi-script\n</Files>\nScriptAlias /cgi-bin/ ROOT/cgi/\n");
    server.file("www/a.cgi", "#!secret");
    server.file("www/dir/index.cgi", "#!secret");
    server.file("cgi/b", "#!secret");
    let mut client = server.client();
    for path in ["/a.cgi", "/a.cgi/more", "/dir/", "/cgi-bin/b", "/cgi-bin/none"] {
        assert_eq!(client.get(path).text(), "hello", "{path}");
    }
    assert_eq!(client.get("/dir/none.html").status, 404);
}

#[test]
fn a_file_that_a_worker_declines_is_sent_by_the_front() {
    let server = site("<Location /app>\nSetHandler perl-script\nPerlHandler X\n</Location>\n");
    server.file("www/app/file", "declined");
    let mut client = server.client();
    assert_eq!(client.get("/app/file").text(), "declined");
    std::fs::remove_file(server.root().join("www/app/file")).expect("removed");
    assert_eq!(client.get("/app/file").status, 404);
}
