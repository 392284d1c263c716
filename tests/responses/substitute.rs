//! `Substitute` and the output filters SUBSTITUTE and INFLATE. mod/mod_substitute.html; the cases of
//! beside_httpd/mod_substitute.txt have httpd's answers.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::proxy::backend::Backend;
use crate::support::{Request, Response, Server, Site, first_and_other_threads, peak_memory};

const FILTERED: &str = "SetOutputFilter SUBSTITUTE\n";

/// A program that prints a line, and another when the file `go` is there.
const APP: &str = "sub { sub { my $w = $_[0]->([200, ['Content-Type' => 'text/plain', 'ETag' => '\"t\"']]);\n\
    $w->write(\"a camel\\nand \"); select undef, undef, undef, 0.01 until -e '@DIR@/go'; $w->write('camel'); $w->close } }";

fn serve(conf: &str) -> Server {
    Site::new()
        .file("htdocs/a.txt", "a camel, a Camel\nand a camel\n")
        .file("app.psgi", APP)
        .serve(&format!("{conf}\n<Location /app>\nPsgiApp app.psgi\n</Location>"))
}

fn packed(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_ref()).expect("memory");
    encoder.finish().expect("memory")
}

fn unpacked(response: &Response) -> String {
    let mut text = String::new();
    GzDecoder::new(&response.body[..]).read_to_string(&mut text).expect("gzip");
    text
}

/// The bytes of a response up to the end of its connection.
fn whole(server: &Server, path: &str) -> Vec<u8> {
    let mut connection = server.connect();
    connection.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    connection.rest()
}

fn is_complete(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\r\n0\r\n\r\n")
}

#[test]
fn a_file_is_changed_and_keeps_its_validators_but_not_its_length() {
    let server = serve(&format!("{FILTERED}Substitute s/camel/dromedary/i\nSubstitute \"s/(a) (d)/$2$1-/\""));
    let changed = server.get("/a.txt").is(200);
    assert_eq!(changed.text(), "da-romedary, da-romedary\nand da-romedary\n");
    assert_eq!(changed.header("content-length"), None);
    let tag = changed.header("etag").expect("a tag");
    let head = server.send(Request::new("HEAD", "/a.txt")).is(200);
    assert_eq!((head.header("content-length"), head.header("etag")), (None, Some(tag.clone())));
    assert_eq!(server.send(Request::get("/a.txt").header("If-None-Match", &tag)).is(304).text(), "");
    let part = server.send(Request::get("/a.txt").header("Range", "bytes=0-2")).is(200);
    assert_eq!(part.text(), changed.text());
    assert_eq!(server.get("/none").status, 404);
}

#[test]
fn a_program_that_pauses_has_its_whole_lines_sent() {
    let server = serve("<Location /app>\nSetOutputFilter SUBSTITUTE\nSubstitute s/camel/dromedary/n\n</Location>");
    let mut connection = server.connect();
    connection.raw("GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.head().is(200).header("etag").as_deref(), Some("\"t\""));
    assert_eq!(connection.chunk(), b"a dromedary\n");
    server.site.write("go", "");
    assert_eq!(connection.chunk(), b"and dromedary");
    assert_eq!(connection.chunk(), b"");
}

#[test]
fn what_a_backend_has_packed_is_unpacked_changed_and_packed_again() {
    let backend = Backend::new(|request| {
        let body = packed("a camel\n".repeat(1000));
        let body = if request.line().contains("broken") { body[..30].to_vec() } else { body };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nETag: \"t\"\r\n\r\n",
            body.len()
        );
        [head.into_bytes(), body].concat()
    });
    let server = Site::new().serve(&format!(
        "ProxyPass / {}\nAddOutputFilterByType INFLATE;SUBSTITUTE;DEFLATE text/html\nSubstitute s/camel/dromedary/\n",
        backend.url("/")
    ));
    let again = server.send(Request::get("/").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!(again.header("content-encoding").as_deref(), Some("gzip"));
    assert_eq!(unpacked(&again), "a dromedary\n".repeat(1000));
    let plain = server.get("/").is(200);
    assert_eq!((plain.header("content-encoding"), plain.header("content-length")), (None, None));
    assert_eq!((plain.text(), plain.header("etag").as_deref()), ("a dromedary\n".repeat(1000), Some("W/\"t\"")));
    assert!(!is_complete(&whole(&server, "/broken")));
    server.logged("not valid gzip");
}

#[test]
fn a_hundred_megabytes_are_changed_with_little_memory() {
    let server = serve(&format!("{FILTERED}Substitute s/camel/dromedary/\nSubstitute \"s/x+y/z/\""));
    server.site.write(
        "htdocs/large.txt",
        &"a line with a camel in it, 63 bytes long as each is here, xxxy\n".repeat(1_600_000),
    );
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let before = peak_memory(front);
    let mut connection = server.connect();
    connection.raw("GET /large.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    connection.head().is(200);
    let length = connection.slowly_watching(1, || assert_eq!(server.get("/a.txt").is(200).status, 200));
    assert!(length > 1_600_000 * 64, "{length}");
    let grown = peak_memory(front) - before;
    assert!(grown < 40 << 20, "{grown}");
}

#[test]
fn a_body_that_grows_a_thousand_times_fills_no_memory() {
    let server = serve(&format!("{FILTERED}Substitute \"s/c/{}/\"", "d".repeat(1000)));
    server.site.write("htdocs/large.txt", &"c\n".repeat(100_000));
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let before = peak_memory(front);
    let mut connection = server.connect();
    connection.raw("GET /large.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    connection.head().is(200);
    let length = connection.slowly_watching(0, || {});
    assert!(length > 100_000 * 1001, "{length}");
    let grown = peak_memory(front) - before;
    assert!(grown < 40 << 20, "{grown}");
}

#[test]
fn a_line_of_ten_megabytes_ends_the_response_unless_the_limit_permits_it() {
    let server = serve(&format!(
        "{FILTERED}Substitute s/camel/dromedary/\n<Location /more>\nSubstituteMaxLineLength 16m\n</Location>\n\
         Alias /more/ @DIR@/htdocs/"
    ));
    server.site.write("htdocs/line.txt", &format!("first camel\n{}camel", "a".repeat(10 << 20)));
    let cut = whole(&server, "/line.txt");
    assert!(!is_complete(&cut) && String::from_utf8_lossy(&cut).contains("first dromedary"), "{}", cut.len());
    assert!(server.logged("SubstituteMaxLineLength").contains("1048576 bytes"));
    let long = whole(&server, "/more/line.txt");
    assert!(is_complete(&long) && long.len() > 10 << 20);
}

#[test]
fn a_pattern_that_explodes_ends_its_response_and_delays_no_other() {
    let server = serve(&format!("{FILTERED}Substitute \"s/(a+)+[bc]/x/\""));
    server.site.write("htdocs/evil.txt", &format!("first\n{}\n", "a".repeat(4000)));
    let cut = whole(&server, "/evil.txt");
    assert!(!is_complete(&cut));
    server.logged("needs too many steps for a text of 4001 bytes, and the response ends here");
    assert_eq!(server.get("/a.txt").is(200).text(), "a camel, a Camel\nand a camel\n");
}

#[test]
fn htaccess_files_have_substitutions_with_limits_of_their_own() {
    let server = Site::new()
        .file("htdocs/a/.htaccess", "SetOutputFilter SUBSTITUTE\nSubstitute s/camel/dromedary/\n")
        .file("htdocs/a/a.txt", "a camel\n")
        .file("htdocs/large/.htaccess", "SubstituteMaxLineLength 2m\n")
        .file("htdocs/large/a.txt", "")
        .file("htdocs/evil/.htaccess", "SetOutputFilter SUBSTITUTE\nSubstitute \"s/(a+)+[bc]/x/\"\n")
        .file("htdocs/evil/a.txt", &format!("{}\n", "a".repeat(4000)))
        .serve("<Directory htdocs>\nAllowOverride FileInfo\n</Directory>\n");
    assert_eq!(server.get("/a/a.txt").is(200).text(), "a dromedary\n");
    server.get("/large/a.txt").is(500);
    server.logged("more than 1 MB, the most in .htaccess files");
    assert!(!is_complete(&whole(&server, "/evil/a.txt")));
    server.logged("and the response ends here");
    assert_eq!(server.get("/a/a.txt").is(200).text(), "a dromedary\n");
}

#[test]
fn a_page_that_is_included_has_substitutions_of_its_own() {
    let server = Site::new()
        .file("htdocs/page.shtml", "camel <!--#include virtual=\"in.txt\" -->")
        .file("htdocs/in.txt", "a camel")
        .file("htdocs/plain.shtml", "camel <!--#echo var=\"REQUEST_METHOD\" -->")
        .serve(
            "<Directory htdocs>\nOptions +Includes\n</Directory>\nAddOutputFilter SUBSTITUTE;INCLUDES .shtml\n\
             AddOutputFilter SUBSTITUTE .txt\nSubstitute s/camel/xcamel/\n",
        );
    assert_eq!(server.get("/page.shtml").is(200).text(), "xcamel a xcamel");
    assert_eq!(server.get("/plain.shtml").is(200).text(), "xcamel GET");
}

#[test]
fn a_pattern_that_searches_a_long_line_again_and_again_ends_its_response() {
    let server = Site::new()
        .file("htdocs/long.txt", &format!("{}z\n", "a".repeat(900_000)))
        .serve(&format!("{FILTERED}SubstituteMaxLineLength 4m\nSubstitute \"s/a(?=[^z]*z)/b/\""));
    assert!(!is_complete(&whole(&server, "/long.txt")));
    server.logged("the patterns take more than 2 s for one line");
}

#[test]
fn a_tenants_replacement_in_a_file_of_short_lines_delays_no_other_client() {
    let server = Site::new()
        .file("htdocs/a/.htaccess", "SetOutputFilter SUBSTITUTE\nSubstitute s/a/b/n\n")
        .file("htdocs/a/lines.txt", &"x\n".repeat(4 << 20))
        .file("htdocs/b.txt", "other")
        .serve("FrontThreads 1\n<Directory @DIR@/htdocs>\nAllowOverride FileInfo\n</Directory>\n");
    let mut slow = server.connect();
    let (clients, others) = first_and_other_threads(server.front(), || {
        slow.raw("GET /a/lines.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        slow.head().is(200);
        assert_eq!(server.text("/b.txt"), "other");
        assert!(is_complete(&slow.rest()));
    });
    assert!(others > clients, "{clients:?} on the thread that answers clients, {others:?} on others");
}
