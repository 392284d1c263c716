//! `SetInputFilter DEFLATE`: programs read the decompressed form of gzip request bodies.
//! mod/mod_deflate.html, "Input Decompression".

use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::support::{Finished, Request, Response, Server, Site, peak_memory, until};

/// An application that answers with CONTENT_LENGTH, the Content-Encoding and Content-MD5 headers, and the body, or its
/// length from 1000 bytes on.
const APP: &str = r#"sub { my $e = shift; my ($body, $n) = ('', 0);
    while ($e->{'psgi.input'}->read(my $piece, 65536)) { $n += length $piece; $body .= $piece if $n < 1000 }
    my $said = join ' ', map { $_ // '-' } @$e{qw(CONTENT_LENGTH HTTP_CONTENT_ENCODING HTTP_CONTENT_MD5)};
    [200, ['Content-Type' => 'text/plain'], ["$said ", $n < 1000 ? $body : $n]] }"#;

#[track_caller]
fn serve(conf: &str) -> Server {
    let place = "MaxClients 2\nStartServers 2\n<Location />\nPsgiApp app.psgi\n</Location>";
    Site::new().file("app.psgi", APP).serve(&format!("Protocols h2c http/1.1\n{place}\n{conf}"))
}

fn packed(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).expect("memory");
    encoder.finish().expect("memory")
}

/// Gzip of `megabytes` MB of zeros: about a thousandth of that size.
fn bomb(megabytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    (0..megabytes).for_each(|_| encoder.write_all(&vec![0; 1 << 20]).expect("memory"));
    encoder.finish().expect("memory")
}

fn sent_as(encoding: &str, body: impl AsRef<[u8]>) -> Request {
    Request::new("POST", "/").header("Content-Encoding", encoding).header("Content-MD5", "x").body(body)
}

fn send(server: &Server, body: impl AsRef<[u8]>) -> Response {
    server.send(sent_as("gzip", body))
}

#[test]
fn a_program_reads_what_was_packed_and_its_true_length() {
    let server = serve("SetInputFilter DEFLATE");
    let (text, gzip) = ("a=1&b=camel", packed("a=1&b=camel"));
    for (encoding, left) in [("gzip", "-"), ("X-GZip", "-"), ("gzip, identity", "-"), ("br,gzip", "br")] {
        let body = server.send(sent_as(encoding, &gzip)).is(200).text();
        assert_eq!(body, format!("11 {left} - {text}"), "{encoding}");
    }
    let mut connection = server.connect();
    connection
        .raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n");
    for byte in &gzip {
        connection.raw([b"1\r\n", &[*byte][..], b"\r\n"].concat());
    }
    connection.raw("0\r\n\r\n");
    assert_eq!(connection.response().is(200).text(), format!("11 - - {text}"));
    server.site.write_bytes("gzip", &gzip);
    let (from, url) = (server.site.filled("@@DIR@/gzip"), server.site.filled("http://localhost:@PORT@/"));
    for head in ["X-Length: said", "Content-Length:"] {
        let output =
            Finished::of(Command::new("curl").args(["-sS", "--noproxy", "*", "--http2-prior-knowledge"]).args([
                "-H",
                "Content-Encoding: gzip",
                "-H",
                head,
                "--data-binary",
                &from,
                &url,
            ]));
        assert_eq!(output.succeeded().out, format!("11 - - {text}"));
    }
}

#[test]
fn a_form_that_was_packed_is_a_form_to_perl() {
    let server = Site::new()
        .file(
            "lib/My.pm",
            "package My;\nuse Apache::Constants ':common';\nsub handler { my $r = shift; my %form = $r->content; $r->send_http_header('text/plain');\n\
             $r->print(\"$form{b} \", $r->header_in('Content-Length'), ' ', $r->header_in('Content-Encoding') || 'plain'); OK }\n1;\n",
        )
        .script("cgi/form.pl", "#!/usr/bin/perl\nuse CGI; my $q = CGI->new; print $q->header('text/plain'), $q->param('b'), \" $ENV{CONTENT_LENGTH}\";")
        .serve(
            "PerlLib lib\nPerlModule My\nSetInputFilter DEFLATE\nScriptAlias /cgi/ cgi/\n\
             <Location /perl>\nSetHandler perl-script\nPerlHandler My\n</Location>",
        );
    let form = |path| Request::post(path, "").header("Content-Encoding", "gzip").body(packed("a=1&b=camel"));
    assert_eq!(server.send(form("/perl")).is(200).text(), "camel 11 plain");
    assert_eq!(server.send(form("/cgi/form.pl")).is(200).text(), "camel 11");
}

/// httpd's filter decompresses only gzip, skips partial content, and ignores an empty body.
#[test]
fn a_body_that_is_not_gzip_arrives_unchanged() {
    let server = serve("SetInputFilter DEFLATE\n<Location /plain>\nSetInputFilter None\n</Location>");
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::none());
    zlib.write_all(b"text").expect("memory");
    let zlib = zlib.finish().expect("memory");
    let body = server.send(sent_as("deflate", &zlib)).is(200);
    assert!(body.body.starts_with(format!("{} deflate x ", zlib.len()).as_bytes()), "{body:?}");
    let gzip = packed("text");
    let as_sent = format!("{} gzip x ", gzip.len());
    for request in [
        sent_as("gzip", &gzip).header("Content-Range", "bytes 0-9/10"),
        Request::new("POST", "/plain").header("Content-Encoding", "gzip").header("Content-MD5", "x").body(&gzip),
    ] {
        let body = server.send(request).is(200);
        assert!(body.body.starts_with(as_sent.as_bytes()) && body.body.ends_with(&gzip), "{body:?}");
    }
    assert_eq!(server.send(sent_as("gzip, br", "text")).is(200).text(), "4 gzip, br x text");
    assert_eq!(server.send(Request::new("POST", "/").body("text")).is(200).text(), "4 - - text");
    assert_eq!(send(&server, "").is(200).text(), "0 - x ");
    assert_eq!(server.text("/"), "- - - ");
}

#[test]
fn add_input_filter_decompresses_bodies_by_extension_and_folder() {
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\", $ENV{HTTP_CONTENT_ENCODING} || 'plain';";
    let server = Site::new()
        .script("cgi/form.pl", script)
        .script("cgi/form.cgi", script)
        .script("cgi/inner/form.pl", script)
        .file("cgi/inner/.htaccess", "RemoveInputFilter .pl")
        .serve(
            "ScriptAlias /cgi/ cgi/\n<Directory cgi>\nAllowOverride All\nAddInputFilter INCLUDES;DEFLATE .pl\n</Directory>",
        );
    let encoding = |path| {
        server.send(Request::new("POST", path).header("Content-Encoding", "gzip").body(packed("a"))).is(200).text()
    };
    assert_eq!(encoding("/cgi/form.pl"), "plain");
    assert_eq!(encoding("/cgi/form.pl/more"), "plain");
    assert_eq!(encoding("/cgi/form.cgi"), "gzip");
    assert_eq!(encoding("/cgi/inner/form.pl"), "gzip");
    server.logged("INCLUDES is ignored");
}

#[test]
fn a_body_that_is_broken_is_refused_and_the_next_request_answered() {
    let server = serve("SetInputFilter DEFLATE");
    let gzip = packed("the same words, the same words");
    let mut spoilt = gzip.clone();
    *spoilt.last_mut().expect("bytes") ^= 1;
    let mut crc = gzip.clone();
    let at = crc.len() - 8;
    crc[at] ^= 1;
    let mut connection = server.connect();
    for (what, body) in [
        ("no gzip", b"plain words that nobody has packed".to_vec()),
        ("cut short", gzip[..gzip.len() - 9].to_vec()),
        ("another length", spoilt),
        ("another sum", crc),
        ("more behind it", [&gzip[..], b"more"].concat()),
        ("a head that does not end", [&[31, 139, 8, 8, 0, 0, 0, 0, 0, 3][..], &vec![b'x'; 200_000]].concat()),
    ] {
        assert_eq!(connection.ask(sent_as("gzip", body)).status, 400, "{what}");
    }
    server.logged("is not valid gzip, although its Content-Encoding is gzip");
    assert_eq!(connection.ask(sent_as("gzip", gzip)).is(200).text(), "30 - - the same words, the same words");
}

#[test]
fn limits_apply_to_the_decompressed_body() {
    let server = serve(
        "SetInputFilter DEFLATE\nLimitRequestBody 10000\nDeflateInflateRatioLimit 1000\n\
         <Location /more>\nDeflateInflateLimitRequestBody 20000\n</Location>",
    );
    let of = |path: &str, length: usize| {
        let words: Vec<u8> = (0..length).map(|n| (n * n / 7) as u8).collect();
        server.send(Request::new("POST", path).header("Content-Encoding", "gzip").body(packed(words))).status
    };
    assert_eq!((of("/", 10_000), of("/", 10_001)), (200, 413));
    server.logged("LimitRequestBody");
    assert_eq!((of("/more", 20_000), of("/more", 20_001)), (200, 413));
    let plain = server.send(Request::new("POST", "/more").body(vec![0; 10_001]));
    assert_eq!(plain.status, 413, "what is sent has its own limit");
}

#[test]
fn a_body_with_too_high_a_ratio_is_refused_at_once() {
    let server = serve("SetInputFilter DEFLATE\n<Location /more>\nDeflateInflateRatioLimit 1100\n</Location>");
    let to =
        |path: &str, body: &[u8]| server.send(Request::new("POST", path).header("Content-Encoding", "gzip").body(body));
    let bomb = bomb(3);
    assert_eq!(to("/", &bomb).status, 413);
    server.logged("DeflateInflateRatioLimit");
    assert_eq!(to("/more", &bomb).text(), format!("{} - - {}", 3 << 20, 3 << 20));
    // The ratio limit has a tolerance: a few dense buffers are accepted.
    assert_eq!(to("/", &packed(vec![0; 30_000])).text(), "30000 - - 30000");
    let server = serve("SetInputFilter DEFLATE\nDeflateInflateRatioBurst 1");
    assert_eq!(send(&server, packed(vec![0; 100_000])).status, 413);
}

#[test]
fn a_gigabyte_of_zeros_fills_no_memory_and_delays_no_other_request() {
    let server = serve(
        "SetInputFilter DEFLATE\nDeflateInflateRatioLimit 1100\nLimitRequestBody 2G\nSpoolDirectory tmp\nCustomLog access.log %D",
    );
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let before = peak_memory(front);
    // A connection that waits for its head longer than RequestReadTimeout is closed: the body comes first.
    let bomb = bomb(1024);
    let mut connection = server.connect();
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip";
    connection.raw(format!("{head}\r\nContent-Length: {}\r\n\r\n", bomb.len()));
    connection.raw(&bomb);
    // The second worker is free: other clients are answered while the front inflates the body.
    (0..20).for_each(|_| assert_eq!(server.text("/"), "- - - "));
    assert_eq!(connection.response().is(200).text(), format!("{} - - {}", 1 << 30, 1 << 30));
    let grown = peak_memory(front) - before;
    assert!(grown < 50 << 20, "{grown}");
    // A client that disconnects must not leave its file open.
    let mut leaves = server.connect();
    leaves.raw(format!("{head}\r\nContent-Length: {}\r\n\r\n", bomb.len()));
    leaves.raw(&bomb);
    drop(leaves);
    let held = || {
        let all = std::fs::read_dir(format!("/proc/{front}/fd")).expect("the front runs");
        let links = all.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
        links.filter(|file| file.starts_with(server.site.path("tmp"))).count()
    };
    until("nothing is left on the disk", || held() == 0);
}
