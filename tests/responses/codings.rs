//! `BROTLI_COMPRESS`, `ZSTD` and `DEFLATE`: responses to clients that accept several codings.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::support::{Request, Response, Server, Site, first_and_other_threads, serve_env_handler as serve};

const ALL: &str = "AddOutputFilterByType BROTLI_COMPRESS;ZSTD;DEFLATE text/html text/plain";

/// Names of the codings, and Debian's programs that decompress them.
const CODINGS: [(&str, &str); 3] = [("br", "brotli"), ("zstd", "zstd"), ("gzip", "gzip")];

fn ask(server: &Server, path: &str, accepted: &str) -> Response {
    server.send(Request::get(path).header("Accept-Encoding", accepted))
}

fn encoding(response: &Response) -> Option<String> {
    response.header("content-encoding")
}

/// The body decompressed by Debian's `program`, which is independent of ours.
#[track_caller]
fn unpacked(program: &str, body: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(["-d", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let (mut to, body) = (child.stdin.take().expect("a pipe"), body.to_vec());
    let writer = std::thread::spawn(move || to.write_all(&body));
    let done = child.wait_with_output().expect("it ends");
    writer.join().expect("it writes").expect("it is read");
    assert!(done.status.success(), "{program} cannot read it");
    done.stdout
}

/// `length` bytes of distinct lines.
fn page(length: usize) -> String {
    let mut page: String = (0..length / 20).map(|n| format!("<p>line {n} of it</p>\n")).collect();
    page.truncate(length);
    page
}

#[test]
fn each_coding_is_what_other_programs_unpack_whatever_the_length() {
    let server = serve(ALL);
    for length in [300, 5_000, 64 << 10, (64 << 10) + 1, 128 << 10, 300_000, 3_000_000] {
        let page = page(length);
        server.site.write(&format!("htdocs/{length}.html"), &page);
        for (coding, program) in CODINGS {
            let answer = ask(&server, &format!("/{length}.html"), coding).is(200);
            assert_eq!(encoding(&answer).as_deref(), Some(coding), "{length}");
            assert_eq!(answer.header("vary").as_deref(), Some("Accept-Encoding"));
            assert!(answer.header("etag").expect("a tag").starts_with("W/"));
            assert!(answer.body.len() < length, "{coding}: {} of {length}", answer.body.len());
            assert!(unpacked(program, &answer.body) == page.as_bytes(), "{coding} {length}");
        }
    }
    for (coding, program) in CODINGS {
        let answer = ask(&server, "/perl", coding).is(200);
        assert_eq!(encoding(&answer).as_deref(), Some(coding));
        assert!(String::from_utf8_lossy(&unpacked(program, &answer.body)).contains("REQUEST_URI=/perl\n"));
    }
}

#[test]
fn the_entity_tag_of_a_compressed_response_is_weak_unless_configured() {
    let server = serve(
        "SetOutputFilter BROTLI_COMPRESS;DEFLATE\nDeflateAlterETag AddSuffix\n\
         <VirtualHost *:@PORT@>\nServerName same.example\nDocumentRoot htdocs\nDeflateAlterETag NoChange\nBrotliAlterETag AddSuffix\n</VirtualHost>\n\
         <VirtualHost *:@PORT@>\nServerName none.example\nDocumentRoot htdocs\nDeflateAlterETag Remove\n</VirtualHost>",
    );
    server.site.write("htdocs/a.html", &page(5_000));
    let tag = |host: &str, method: &str, coding: &str| {
        let request = Request::new(method, "/a.html").header("Host", host).header("Accept-Encoding", coding);
        server.send(request).is(200).header("etag")
    };
    let plain = tag("same.example", "GET", "identity").expect("a tag");
    let suffixed = |suffix: &str| Some(plain.trim_end_matches('"').to_owned() + suffix + "\"");
    for (host, coding, expected) in [
        ("same.example", "gzip", Some(plain.clone())),
        ("same.example", "br", suffixed("-br")),
        ("none.example", "gzip", None),
        ("none.example", "br", Some(format!("W/{plain}"))),
    ] {
        assert_eq!(tag(host, "GET", coding), expected, "{host} {coding}");
    }
    assert_eq!(tag("none.example", "HEAD", "gzip"), None);
    assert_eq!(tag("same.example", "HEAD", "br"), suffixed("-br"));
    // As httpd's manual says, a client with the tag of the compressed response gets it again.
    let again = |tag: &str| {
        let request = Request::get("/a.html").header("Host", "same.example").header("Accept-Encoding", "br");
        server.send(request.header("If-None-Match", tag)).status
    };
    assert_eq!((again(&suffixed("-br").expect("a tag")), again(&plain)), (200, 304));
}

#[test]
fn the_client_chooses_by_quality_and_else_the_order_of_the_configuration_counts() {
    let server = serve(
        "AddOutputFilterByType BROTLI_COMPRESS text/html\nAddOutputFilterByType DEFLATE text/html\n\
         AddOutputFilter ZSTD;DEFLATE txt\nBrowserMatch ^Old no-brotli\nBrowserMatch ^Older no-gzip",
    );
    for name in ["a.html", "a.txt"] {
        server.site.write(&format!("htdocs/{name}"), &page(5_000));
    }
    for (path, accepted, expected) in [
        ("/a.html", "gzip, deflate, br, zstd", Some("br")),
        ("/a.html", "br;q=0.5, gzip;q=0.8", Some("gzip")),
        ("/a.html", "br;q=0, *", Some("gzip")),
        ("/a.html", "zstd", None),
        ("/a.html", "identity, gzip;q=0.5", None),
        ("/a.html", "*;q=0", None),
        ("/a.html", "nonsense;;;,,q=,", None),
        ("/a.txt", "gzip, deflate, br, zstd", Some("zstd")),
        ("/a.txt", "gzip", Some("gzip")),
    ] {
        let answer = ask(&server, path, accepted).is(200);
        assert_eq!(encoding(&answer).as_deref(), expected, "{path} {accepted}");
        assert_eq!(answer.header("vary").as_deref(), Some("Accept-Encoding"), "{path} {accepted}");
    }
    let by = |agent| Request::get("/a.html").header("Accept-Encoding", "br, gzip").header("User-Agent", agent);
    assert_eq!(encoding(&server.send(by("Old/1"))).as_deref(), Some("gzip"));
    assert_eq!(encoding(&server.send(by("Older/1"))), None);
}

#[test]
fn compression_levels_change_the_length() {
    let server = serve(&format!(
        "{ALL}\nAlias /fast/ @DIR@/htdocs/\n<Location /fast>\nDeflateCompressionLevel 1\nBrotliCompressionQuality 0\n\
         ZstdCompressionLevel 1\n</Location>\n<Location /a.html>\nDeflateCompressionLevel 9\nBrotliCompressionQuality 11\n\
         ZstdCompressionLevel 19\n</Location>"
    ));
    server.site.write("htdocs/a.html", &page(20_000));
    for (coding, _) in CODINGS {
        let [fast, small] = ["/fast/a.html", "/a.html"].map(|path| ask(&server, path, coding).is(200).body.len());
        assert!(small < fast, "{coding}: {small} and {fast} bytes");
    }
}

#[test]
fn a_response_without_a_body_or_with_a_part_is_not_compressed() {
    let server = serve(ALL);
    server.site.write("htdocs/a.html", &page(5_000));
    let all = "br, zstd, gzip";
    let tag = server.get("/a.html").is(200).header("etag").expect("a tag");
    let same = Request::get("/a.html").header("Accept-Encoding", all).header("If-None-Match", &format!("W/{tag}"));
    assert_eq!(encoding(&server.send(same).is(304)), None);
    let part = Request::get("/a.html").header("Accept-Encoding", all).header("Range", "bytes=0-999");
    assert_eq!(encoding(&server.send(part).is(206)), None);
    let head = server.send(Request::new("HEAD", "/a.html").header("Accept-Encoding", all)).is(200);
    assert_eq!((encoding(&head), head.header("content-length").as_deref()), (None, Some("5000")));
    let missing = ask(&server, "/none.html", all).is(404);
    assert!(missing.header("vary").is_some_and(|vary| vary.contains("Accept-Encoding")));
}

#[test]
fn a_program_that_pauses_has_its_first_words_sent_in_each_coding() {
    let server = Site::new()
        .file(
            "app.psgi",
            "sub { my $end = '@DIR@' . $_[0]{PATH_INFO}; sub { my $w = $_[0]->([200, ['Content-Type' => 'text/plain']]);\n\
             $w->write('first ' x 100); select undef, undef, undef, 0.01 until -e $end; $w->write('second'); $w->close } }",
        )
        .serve(&format!("{ALL}\n<Location />\nPsgiApp app.psgi\n</Location>"));
    for (coding, program) in CODINGS {
        let mut connection = server.connect();
        connection.raw(format!("GET /{coding} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {coding}\r\n\r\n"));
        assert_eq!(encoding(&connection.head()).as_deref(), Some(coding));
        let mut packed = connection.chunk();
        // The header of a coding may arrive in a chunk of its own.
        while beginning(coding, &packed) != "first ".repeat(100).as_bytes() {
            packed.extend(connection.chunk());
        }
        server.site.write(coding, "");
        loop {
            let chunk = connection.chunk();
            if chunk.is_empty() {
                break;
            }
            packed.extend(chunk);
        }
        assert!(unpacked(program, &packed).ends_with(b"second"), "{coding}");
    }
}

/// The bytes, out of the first 600, that can be decompressed so far.
fn beginning(coding: &str, packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut reader: Box<dyn Read> = match coding {
        "br" => Box::new(brotli::Decompressor::new(packed, 4096)),
        "zstd" => Box::new(zstd::stream::read::Decoder::new(packed).expect("a decoder")),
        _ => Box::new(flate2::read::GzDecoder::new(packed)),
    };
    let mut byte = [0];
    while text.len() < 600 && reader.read_exact(&mut byte).is_ok() {
        text.push(byte[0]);
    }
    text
}

#[test]
fn an_answer_that_breaks_off_is_cut_short_behind_what_was_printed() {
    let server = Site::new()
        .file(
            "app.psgi",
            "sub { sub { my $w = $_[0]->([200, ['Content-Type' => 'text/plain']]); $w->write('first ' x 100); die } }",
        )
        .serve(&format!("{ALL}\n<Location />\nPsgiApp app.psgi\n</Location>"));
    for (coding, _) in CODINGS {
        let mut connection = server.connect();
        connection.raw(format!("GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {coding}\r\n\r\n"));
        assert_eq!(encoding(&connection.head()).as_deref(), Some(coding));
        let rest = connection.rest();
        assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "{coding}: {}", rest.escape_ascii());
    }
}

#[test]
fn compression_that_takes_seconds_delays_no_other_request() {
    let server = serve(&format!("{ALL}\nBrotliCompressionQuality 11\nFrontThreads 1"));
    server.site.write("htdocs/large.html", &page(300_000));
    let mut slow = server.connect();
    let (clients, others) = first_and_other_threads(server.front(), || {
        slow.raw("GET /large.html HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n");
        assert_eq!(encoding(&slow.head()).as_deref(), Some("br"));
        assert_eq!(server.text("/plain.txt"), "plain\n");
        assert!(slow.rest().len() > 1000);
    });
    assert!(others > clients, "{clients:?} on the thread that answers clients, {others:?} on others");
}

#[test]
fn a_folder_waits_for_few_compressions_of_another_however_many_that_one_wants() {
    const WANTED: usize = 30;
    let rules = format!("{ALL}\nBrotliCompressionQuality 11\n");
    let mut site = Site::new().file("htdocs/victim/.htaccess", &rules).file("htdocs/victim/page.txt", &page(20_000));
    for number in 0..WANTED {
        // Each file differs, because the compressed form of a file is cached.
        site = site
            .file(&format!("htdocs/evil/{number}/.htaccess"), &rules)
            .file(&format!("htdocs/evil/{number}/page.txt"), &page(20_000 + 20 * number));
    }
    let server = site.serve("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n");
    let answered = std::sync::atomic::AtomicUsize::new(0);
    let before = std::thread::scope(|scope| {
        let mut greedy: Vec<_> = (0..WANTED).map(|_| server.connect()).collect();
        for (number, client) in greedy.iter_mut().enumerate() {
            client
                .raw(format!("GET /evil/{number}/page.txt HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\n\r\n"));
        }
        for mut client in greedy {
            let answered = &answered;
            scope.spawn(move || {
                assert_eq!(encoding(&client.response().is(200)).as_deref(), Some("br"));
                answered.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
        assert_eq!(encoding(&ask(&server, "/victim/page.txt", "br").is(200)).as_deref(), Some("br"));
        answered.load(std::sync::atomic::Ordering::SeqCst)
    });
    assert!(before < WANTED / 2, "{before} answers were compressed before the one of another folder");
    assert_eq!(answered.into_inner(), WANTED);
}
