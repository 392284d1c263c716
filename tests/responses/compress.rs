//! `AddOutputFilterByType DEFLATE`: responses as gzip.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::support::{Request, Response, Server, Site, serve_env_handler as serve};

fn ask(server: &Server, path: &str) -> Response {
    server.send(Request::get(path).header("Accept-Encoding", "gzip"))
}

fn unpacked(response: &Response) -> String {
    let mut text = String::new();
    GzDecoder::new(&response.body[..]).read_to_string(&mut text).expect("gzip");
    text
}

fn encoding(response: &Response) -> Option<String> {
    response.header("content-encoding")
}

#[test]
fn files_and_programs_are_compressed_for_clients_that_take_it() {
    let server = serve("AddOutputFilterByType DEFLATE text/html text/css\nDeflateCompressionLevel 9");
    let page = "<p>the same line again and again</p>\n".repeat(20_000);
    server.site.write("htdocs/large.html", &page);
    let plain = server.get("/large.html").is(200);
    assert_eq!((plain.text() == page, encoding(&plain)), (true, None));
    assert_eq!(plain.header("vary").as_deref(), Some("Accept-Encoding"));
    let packed = ask(&server, "/large.html").is(200);
    assert_eq!(encoding(&packed).as_deref(), Some("gzip"));
    assert!(unpacked(&packed) == page && packed.body.len() * 10 < page.len(), "{} bytes", packed.body.len());
    assert_eq!(packed.header("accept-ranges"), None);
    let tag = plain.header("etag").expect("a tag");
    assert_eq!(packed.header("etag"), Some(format!("W/{tag}")));
    server.send(Request::get("/large.html").header("If-None-Match", &format!("W/{tag}"))).is(304);
    let perl = ask(&server, "/perl").is(200);
    assert!(unpacked(&perl).contains("REQUEST_URI=/perl\n"));
}

#[test]
fn unsuitable_responses_are_not_compressed() {
    let server = serve("AddOutputFilterByType DEFLATE text/html\nAddEncoding x-gzip .gz\nBrowserMatch ^Old no-gzip");
    for name in ["large.html", "large.txt", "packed.html.gz"] {
        server.site.write(&format!("htdocs/{name}"), &"0123456789".repeat(1000));
    }
    // The client's own name of a coding, as in httpd: the file is sent as it is.
    for (path, coding, length) in
        [("/page.html", None, 12), ("/large.txt", None, 10_000), ("/packed.html.gz", Some("gzip"), 10_000)]
    {
        let response = ask(&server, path).is(200);
        assert_eq!((encoding(&response).as_deref(), response.body.len()), (coding, length), "{path}");
    }
    let part =
        server.send(Request::get("/large.html").header("Accept-Encoding", "gzip").header("Range", "bytes=0-999"));
    assert_eq!((encoding(&part.clone().is(206)), part.body.len()), (None, 1000));
    let old = Request::get("/large.html").header("Accept-Encoding", "gzip").header("User-Agent", "Old/1");
    assert_eq!(encoding(&server.send(old)), None);
    let head = server.send(Request::new("HEAD", "/large.html").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!((encoding(&head), head.header("content-length").as_deref()), (None, Some("10000")));
    assert_eq!(encoding(&ask(&server, "/large.html")).as_deref(), Some("gzip"));
}

#[test]
fn a_program_that_pauses_has_its_first_words_sent() {
    let server = Site::new()
        .file(
            "app.psgi",
            "sub { sub { my $w = $_[0]->([200, ['Content-Type' => 'text/plain']]);\n\
             $w->write('first ' x 100); select undef, undef, undef, 0.01 until -e '@DIR@/go'; $w->write('second'); $w->close } }",
        )
        .serve("<Location /app>\nPsgiApp app.psgi\nSetOutputFilter DEFLATE\n</Location>");
    let mut connection = server.connect();
    connection.raw("GET /app HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_eq!(encoding(&connection.head()).as_deref(), Some("gzip"));
    let mut packed = connection.chunk();
    // The gzip header may arrive in a chunk of its own.
    let mut text = vec![0; 600];
    while GzDecoder::new(&packed[..]).read_exact(&mut text).is_err() {
        packed.extend(connection.chunk());
    }
    assert_eq!(text, "first ".repeat(100).as_bytes());
    server.site.write("go", "");
    loop {
        let chunk = connection.chunk();
        if chunk.is_empty() {
            break;
        }
        packed.extend(chunk);
    }
    let mut whole = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut whole).expect("gzip");
    assert!(whole.ends_with("second"), "{whole}");
}
