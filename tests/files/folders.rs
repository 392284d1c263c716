//! Folders: listings, trailing slashes; and entity tags of files.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use crate::support::serve_env_handler as serve;
use crate::support::{Connection, PATIENCE, Server, cpu_time, peak_memory};

#[test]
fn a_folder_without_an_index_is_listed_where_options_allow_it() {
    let server = serve("Options +Indexes\nIndexIgnore *.bak ?ecret\n<Location /closed>\nOptions -Indexes\n</Location>");
    for name in ["b <&>\".txt", "a.txt", "x.bak", "secret", ".htpasswd", "sub/index.html", "c:d", "100%"] {
        server.site.write(&format!("htdocs/list/{name}"), "x");
    }
    server.site.write("htdocs/closed/a", "x");
    let page = server.get("/list/").is(200);
    assert_eq!(page.header("content-type").as_deref(), Some("text/html;charset=ISO-8859-1"));
    let text = page.text();
    for link in [
        "<a href=\"a.txt\"> a.txt</a>",
        "<a href=\"b%20%3c&amp;%3e%22.txt\"> b &lt;&amp;&gt;&quot;.txt</a>",
        "<a href=\"./c:d\"> c:d</a>",
        "<a href=\"100%25\"> 100%</a>",
        "<a href=\"sub/\"> sub/</a>",
        "<a href=\"/\"> Parent Directory</a>",
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
    assert!(text.contains("  2.9K  ") && text.contains("?C=S;O=A"), "{text}");
}

#[test]
fn a_folder_without_its_slash_can_be_left_alone() {
    let server = serve("Options +Indexes\n<Location /list>\nDirectorySlash Off\n</Location>");
    server.site.write("htdocs/list/a", "x");
    server.site.write("htdocs/other/a", "x");
    server.get("/list").is(403);
    server.logged("htdocs/list: the path is that of a folder and has no slash at its end, and DirectorySlash Off");
    server.get("/other").is(301);
}

#[test]
fn a_folder_with_the_name_of_an_index_is_redirected_to_as_in_httpd() {
    let server = serve(
        "DirectoryIndex index.html page.html\n<Location /off>\nDirectorySlash Off\n</Location>\n\
         <Location /away>\nDirectoryIndexRedirect On\n</Location>",
    );
    for folder in ["on", "off", "away"] {
        server.site.write(&format!("htdocs/{folder}/index.html/a.txt"), "a");
        server.site.write(&format!("htdocs/{folder}/page.html"), "page");
    }
    let location = |path| server.get(path).is(301).header("location");
    assert_eq!(location("/on/?a=b").as_deref(), Some("http://localhost/on/index.html/?a=b"));
    assert_eq!(location("/away/").as_deref(), Some("http://localhost/away/index.html/"));
    assert_eq!(server.text("/off/"), "page");
}

/// httpd's mod_dir takes the fallback only for what has no handler.
#[test]
fn a_missing_file_with_a_handler_has_no_fallback() {
    let server = serve(
        "FallbackResource /page.html\nAddHandler send-as-is .asis\n<Location /handled>\nSetHandler send-as-is\n</Location>",
    );
    server.site.write("htdocs/there.asis", "Content-Type: text/plain\n\nthere");
    server.get("/none").is(200);
    server.get("/none.asis").is(404);
    server.get("/handled/none").is(404);
    assert_eq!(server.text("/there.asis"), "there");
}

#[test]
fn file_etag_selects_the_parts_of_an_entity_tag() {
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
        (text.matches("<li><a href=\"file-").count(), text.contains("the folder has more"))
    };
    (0..10_000).for_each(create);
    assert_eq!(shown(), (10_000, false));
    assert!(!server.log().contains("is truncated after"));
    (10_000..10_100).for_each(create);
    assert_eq!(shown(), (10_000, true));
    server.logged("the index of /many/ is truncated after 10000 names");
}

/// Upper bound of the CPU time that the first thread spends before it serves a short file. CPU time does not depend on
/// the machine's load.
const SOON: Duration = Duration::from_millis(100);

#[test]
#[ignore = "measures time: `make timing`"]
fn a_folder_of_100000_files_delays_no_other_request() {
    // Each name has rules that could hide it, so that the front checks each name.
    let rules = "Options +Indexes\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
                 <Files *.secret>\nDeny from all\n</Files>\nFrontThreads 1";
    let server = serve(rules);
    let folder = server.site.path("htdocs/many");
    std::fs::create_dir_all(&folder).expect("a folder");
    for n in 0..100_000 {
        std::fs::File::create(folder.join(format!("{n:0200}"))).expect("a file");
    }
    let front = server.status()["front_pid"].as_i64().expect("the front has a number") as i32;
    server.get("/many/").is(200);
    let before = peak_memory(front);
    let longest = longest_stretch_beside_lists(&server, front);
    assert!(longest < SOON, "it was at work for {longest:?} before it came to a file");
    let grown = peak_memory(front).saturating_sub(before);
    assert!(grown < 64 << 20, "ten lists that nobody reads take {} MiB", grown >> 20);
}

/// The most CPU time that the first thread spends before it serves a short file, while ten clients request a list and
/// stop reading.
fn longest_stretch_beside_lists(server: &Server, front: i32) -> Duration {
    let mut readers: Vec<Connection> = (0..10).map(|_| server.connect()).collect();
    readers.iter_mut().for_each(|reader| reader.patience(PATIENCE));
    readers.iter_mut().for_each(|reader| reader.raw(b"GET /many/ HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            readers.iter_mut().for_each(|reader| drop(reader.head().is(200)));
            is_done.store(true, SeqCst);
        });
        let mut longest = Duration::ZERO;
        while !is_done.load(SeqCst) {
            let before = cpu_time(front);
            server.get("/page.html").is(200);
            longest = longest.max(cpu_time(front) - before);
        }
        longest
    })
}
