//! Image maps: mod/mod_imagemap.html. beside_httpd/mod_imagemap.txt has httpd's answers.

use crate::support::{Request, Server, Site};

const MAP: &str = "# where to\nbase /maps/\nrect rect.html 10,10 20,20 \"A <corner>\"\ncircle nocontent 60,60 60,65\n\
    poly error 30,0 40,0 35,10\npoint http://other.example/far 300,300\ndefault /else\n";

#[track_caller]
fn leads_to(server: &Server, target: &str) -> String {
    server.get(target).is(302).header("Location").unwrap_or_default()
}

#[test]
fn a_click_in_an_image_leads_where_its_map_says() {
    let site = Site::new().file("htdocs/a.map", MAP).file("htdocs/b/a.map", "rect here.html 0,0 9,9\n");
    let site = site.file("htdocs/b/.htaccess", "ImapDefault referer\nImapMenu none\n");
    let server = site.serve("AddHandler imap-file map\n<Directory @DIR@/htdocs>\nAllowOverride Indexes\n</Directory>");
    assert!(leads_to(&server, "/a.map?15,15").ends_with("/maps/rect.html"));
    assert_eq!(leads_to(&server, "/a.map?250,250"), "http://other.example/far");
    assert_eq!(server.get("/a.map?61,61").is(204).body, b"");
    server.get("/a.map?35,5").is(500);
    server.logged("the map leads to an error");
    assert_eq!(leads_to(&server, "/b/a.map?5,5"), "http://localhost/b/here.html");
    let request = |target: &str| Request::get(target).header("Referer", "http://x.example/page");
    let location = |target: &str| server.send(request(target)).is(302).header("Location");
    assert_eq!(location("/b/a.map?50,50").as_deref(), Some("http://x.example/page"));
    assert_eq!(location("/b/a.map").as_deref(), Some("http://x.example/page"), "without a menu");
    let menu = server.get("/a.map").is(200);
    assert_eq!(menu.header("Content-Type").as_deref(), Some("text/html; charset=UTF-8"));
    assert!(menu.text().contains("rect.html\">A &lt;corner&gt;</a>"), "{}", menu.text());
    server.post("/a.map", "x").is(405);
}

#[test]
fn a_map_that_is_no_map_is_answered_500_and_named_in_the_log() {
    let site = Site::new().file("htdocs/a.map", "rect\n").file("htdocs/b.map", &"#\n".repeat(200_000));
    let server = site.serve("AddHandler imap-file map");
    server.get("/a.map?1,1").is(500);
    server.logged("\"rect\" has no value");
    server.get("/b.map?1,1").is(500);
    server.logged("the image map has more than 256 KB");
}
