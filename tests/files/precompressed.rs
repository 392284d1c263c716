//! `PrecompressedFiles`: compressed files beside the originals; and files that the front compresses once for all
//! clients.

use std::time::{Duration, SystemTime};

use crate::support::{Request, Response, Server, Site, until};

const ALL: &str = "br, zstd, gzip";

fn ask(server: &Server, path: &str, accepted: &str) -> Response {
    server.send(Request::get(path).header("Accept-Encoding", accepted))
}

fn encoding(response: &Response) -> Option<String> {
    response.header("content-encoding")
}

/// A site with a style sheet and its precompressed files; the content of each names its coding.
fn serve(conf: &str) -> Server {
    let mut site = Site::new().file("htdocs/a.css", "plain");
    for ending in ["br", "zst", "gz"] {
        site = site.file(&format!("htdocs/a.css.{ending}"), &format!("made {ending}"));
    }
    site.serve(&format!("PrecompressedFiles On\n{conf}"))
}

#[test]
fn the_precompressed_file_that_the_client_prefers_is_sent() {
    let server = serve("");
    for (accepted, expected, coding) in [
        (ALL, "made br", Some("br")),
        ("gzip, zstd", "made zst", Some("zstd")),
        ("gzip, zstd;q=0.5", "made gz", Some("gzip")),
        ("br;q=0", "plain", None),
        ("identity, br;q=0.5", "plain", None),
    ] {
        let answer = ask(&server, "/a.css", accepted).is(200);
        assert_eq!((answer.text().as_str(), encoding(&answer).as_deref()), (expected, coding), "{accepted}");
        assert_eq!(answer.header("content-type").as_deref(), Some("text/css"));
        assert_eq!(answer.header("vary").as_deref(), Some("Accept-Encoding"));
        assert_eq!(answer.header("content-length"), Some(expected.len().to_string()));
    }
    std::fs::remove_file(server.site.path("htdocs/a.css.br")).expect("it is there");
    assert_eq!(ask(&server, "/a.css", ALL).text(), "made zst");
    assert_eq!(server.get("/a.css.gz").is(200).text(), "made gz", "by its own name it is a file like others");
}

#[test]
fn each_precompressed_file_has_its_own_entity_tag_and_ranges() {
    let server = serve("FileETag MTime");
    for name in ["a.css", "a.css.br", "a.css.zst", "a.css.gz"] {
        server.site.age(&format!("htdocs/{name}"), Duration::from_secs(60));
    }
    let mut tags = vec![server.get("/a.css").is(200).header("etag").expect("a tag")];
    for coding in ["br", "zstd", "gzip"] {
        let answer = ask(&server, "/a.css", coding).is(200);
        assert_eq!(encoding(&answer).as_deref(), Some(coding));
        let tag = answer.header("etag").expect("a tag");
        let again = Request::get("/a.css").header("Accept-Encoding", coding).header("If-None-Match", &tag);
        let same = server.send(again).is(304);
        assert_eq!(same.header("vary").as_deref(), Some("Accept-Encoding"));
        server.send(Request::get("/a.css").header("If-None-Match", &tag)).is(200);
        assert!(!tags.contains(&tag), "{tag}");
        tags.push(tag);
    }
    let part = Request::get("/a.css").header("Accept-Encoding", "br").header("Range", "bytes=5-");
    let part = server.send(part).is(206);
    assert_eq!((part.text().as_str(), encoding(&part).as_deref()), ("br", Some("br")));
    let head = server.send(Request::new("HEAD", "/a.css").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!((encoding(&head).as_deref(), head.header("content-length").as_deref()), (Some("gzip"), Some("7")));
}

#[test]
fn an_older_copy_a_folder_or_a_link_is_not_sent() {
    let server = serve("Options -FollowSymLinks");
    server.site.age("htdocs/a.css.br", Duration::from_secs(3600));
    assert_eq!(ask(&server, "/a.css", "br").text(), "plain", "it was made from another version");
    std::fs::remove_file(server.site.path("htdocs/a.css.zst")).expect("it is there");
    std::fs::create_dir(server.site.path("htdocs/a.css.zst")).expect("a folder");
    assert_eq!(ask(&server, "/a.css", "zstd").text(), "plain");
    server.site.write("secret", "secret");
    std::fs::remove_file(server.site.path("htdocs/a.css.gz")).expect("it is there");
    std::os::unix::fs::symlink("../secret", server.site.path("htdocs/a.css.gz")).expect("a link");
    assert_eq!(ask(&server, "/a.css", "gzip").text(), "plain");
}

#[test]
fn the_rules_of_the_file_hold() {
    let server = serve(
        "<Files a.css>\nDeny from all\n</Files>\n<Files b.css>\nSetEnv no-brotli 1\n</Files>\n\
         <Files c.css>\nPrecompressedFiles Off\n</Files>",
    );
    ask(&server, "/a.css", ALL).is(403);
    for name in ["b.css", "c.css"] {
        server.site.write(&format!("htdocs/{name}"), "plain");
        server.site.write(&format!("htdocs/{name}.br"), "made br");
    }
    assert_eq!(ask(&server, "/b.css", ALL).text(), "plain");
    let off = ask(&server, "/c.css", ALL).is(200);
    assert_eq!((off.text().as_str(), off.header("vary")), ("plain", None));
}

#[test]
fn a_file_is_compressed_once_and_again_when_it_changes() {
    let server = Site::new().serve("AddOutputFilterByType BROTLI_COMPRESS text/css\nBrotliCompressionQuality 11");
    let sheet = |color: &str| (0..8000).map(|n| format!(".c{n} {{ color: {color} }}\n")).collect::<String>();
    let unpacked = |answer: &Response| {
        let mut text = Vec::new();
        brotli::BrotliDecompress(&mut &answer.body[..], &mut text).expect("brotli");
        String::from_utf8(text).expect("text")
    };
    server.site.write("htdocs/a.css", &sheet("red"));
    // A file that changed just now could change again with the same time stamp, and its compressed form is not stored.
    let file = std::fs::File::options().write(true).open(server.site.path("htdocs/a.css")).expect("our own file");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("our own file");
    let front = server.status()["front_pid"].as_i64().expect("a front");
    let cost = || {
        let before = ticks(front);
        let answer = ask(&server, "/a.css", "br").is(200);
        assert!(unpacked(&answer) == sheet("red") && answer.header("content-length").is_some());
        ticks(front) - before
    };
    let first = cost();
    // A file that changed just now could change again with the same time stamp, so its compressed form is not stored
    // yet.
    until("the compressed file is cached", || cost() * 4 < first);
    assert_eq!(encoding(&server.get("/a.css").is(200)), None);
    server.site.write("htdocs/a.css", &sheet("blue"));
    assert!(unpacked(&ask(&server, "/a.css", "br").is(200)) == sheet("blue"));
}

/// CPU time of a process and its threads, in clock ticks of 10 ms.
fn ticks(pid: i64) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum()
}
