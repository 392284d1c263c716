//! Folders: lists, slashes; and a file's entity tag.

use crate::support::serve_env_handler as serve;

#[test]
fn a_folder_without_an_index_is_listed_where_options_allow_it() {
    let server = serve("Options +Indexes\nIndexIgnore *.bak ?ecret\n<Location /closed>\nOptions -Indexes\n</Location>");
    for name in ["b <&>\".txt", "a.txt", "x.bak", "secret", ".htpasswd", "sub/index.html", "c:d", "100%"] {
        server.site.write(&format!("htdocs/list/{name}"), "x");
    }
    server.site.write("htdocs/closed/a", "x");
    let page = server.get("/list/").is(200);
    assert_eq!(page.header("content-type").as_deref(), Some("text/html; charset=utf-8"));
    let text = page.text();
    for link in [
        "<a href=\"a.txt\">a.txt</a>",
        "<a href=\"b%20%3C%26%3E%22.txt\">b &lt;&amp;&gt;&quot;.txt</a>",
        "<a href=\"c%3Ad\">c:d</a>",
        "<a href=\"100%25\">100%</a>",
        "<a href=\"sub/\">sub/</a>",
        "<a href=\"../\">Parent Directory</a>",
    ] {
        assert!(text.contains(link), "{link}: {text}");
    }
    for hidden in ["x.bak", "secret", "htpasswd"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    server.get("/list/sub/").is(200);
    server.get("/closed/").is(403);
    server.post("/list/", "x").is(405);
}

#[test]
fn a_fancy_list_has_dates_and_sizes_and_can_be_sorted() {
    let server = serve("Options +Indexes\nIndexOptions FancyIndexing FoldersFirst NameWidth=*");
    server.site.write("htdocs/list/a", &"x".repeat(3000));
    server.site.write("htdocs/list/b", "x");
    server.site.write("htdocs/list/z/c", "x");
    let order = |query: &str| {
        let text = server.text(&format!("/list/{query}"));
        let places = ["\"a\"", "\"b\"", "\"z/\""].map(|link| text.find(&format!("href={link}")).expect("listed"));
        let mut names = ["a", "b", "z"].iter().zip(places).collect::<Vec<_>>();
        names.sort_by_key(|(_, place)| *place);
        names.iter().map(|(name, _)| **name).collect::<String>()
    };
    assert_eq!((order("").as_str(), order("?C=N;O=D").as_str(), order("?C=S;O=A").as_str()), ("zab", "zba", "zba"));
    let text = server.text("/list/");
    assert!(text.contains("<td>2.9K</td>") && text.contains("?C=S;O=A"), "{text}");
}

#[test]
fn a_folder_without_its_slash_can_be_left_alone() {
    let server = serve("Options +Indexes\n<Location /list>\nDirectorySlash Off\n</Location>");
    server.site.write("htdocs/list/a", "x");
    server.site.write("htdocs/other/a", "x");
    server.get("/list").is(404);
    server.get("/other").is(301);
}

#[test]
fn a_files_tag_is_made_from_what_is_asked_for() {
    let tag = |conf: &str| serve(conf).get("/page.html").is(200).header("etag");
    assert_eq!(tag("FileETag Size").as_deref(), Some("\"c\""));
    assert_eq!(tag("FileETag None"), None);
    let all = tag("FileETag All").expect("a tag");
    assert_eq!(all.matches('-').count(), 2, "{all}");
}

#[test]
fn a_list_has_room_for_10000_names_and_says_that_there_are_more() {
    let server = serve("Options +Indexes");
    let folder = server.site.path("htdocs/many");
    std::fs::create_dir_all(&folder).expect("a folder");
    let create = |n: u32| drop(std::fs::File::create(folder.join(format!("file-{n:05}"))).expect("a file"));
    let shown = || {
        let text = server.text("/many/");
        (text.matches("<li><a href=\"file-").count(), text.contains("There is more in this folder"))
    };
    (0..10_000).for_each(create);
    assert_eq!(shown(), (10_000, false));
    (10_000..10_100).for_each(create);
    assert_eq!(shown(), (10_000, true));
}
