//! The front's cost of request heads and bodies by their length.

use super::{Kind, costs_by_its_length, counter, each, get};
use crate::support::{Counter, Site};

/// A handler that reads nothing and responds at once.
const OK: &str =
    "package Plain; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('ok'); 0 }\n1;\n";

const CONF: &str = r#"
PerlLib lib
PerlModule Plain
Options Indexes FollowSymLinks
AddOutputFilterByType DEFLATE text/html text/plain
RemoteIPHeader X-Forwarded-For
RemoteIPInternalProxy 127.0.0.1 10.0.0.0/8
SetEnvIf Cookie "a.*b.*z" X
SetEnvIf Cookie "(x+)y" X=$1
SetEnvIf Request_URI "a.*c.*z" X
SetEnvIfNoCase User-Agent "a+b|c.*d.*e" X
BrowserMatch ".*x.*y.*" X
RequestHeader edit X-Long a+ b
RedirectMatch ^/turn(.*)end http://localhost$1$1$1$1
<Files ~ "^\.secret">
Deny from all
</Files>
<FilesMatch "a+.*b$">
ForceType text/plain
</FilesMatch>
<LocationMatch "/x.*/y.*/z">
ForceType text/plain
</LocationMatch>
<DirectoryMatch "/x.*/y.*/z">
ForceType text/plain
</DirectoryMatch>
<Location /perl>
SetHandler perl-script
PerlHandler Plain
</Location>
<Location /closed>
AuthType Basic
AuthName x
AuthUserFile users
Require valid-user
</Location>
"#;

fn site() -> Site {
    Site::new()
        .file("lib/Plain.pm", OK)
        .file("htdocs/page.html", &"<p>page</p>\n".repeat(6000))
        .file("users", "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=")
}

#[test]
fn targets_header_fields_and_bodies_cost_the_front_by_their_length() {
    let counter = counter(site(), CONF);
    targets(&counter);
    header_fields(&counter);
    bodies(&counter);
}

fn targets(counter: &Counter) {
    costs_by_its_length(
        counter,
        &[
            Kind { name: "folders that are missing", pieces: 240, send: |n| get(&"/a".repeat(n), "") },
            Kind {
                name: "folders with long names",
                pieces: 240,
                send: |n| get(&"/a-rather-long-name-of-a-folder".repeat(n), ""),
            },
            Kind {
                name: "folders up to a program",
                pieces: 240,
                send: |n| get(&format!("/perl{}", "/a".repeat(n)), ""),
            },
            Kind {
                name: "segments behind a file",
                pieces: 240,
                send: |n| get(&format!("/page.html{}", "/a".repeat(n)), ""),
            },
            Kind { name: "folders and back", pieces: 120, send: |n| get(&format!("/perl{}", "/a/..".repeat(n)), "") },
            // The long name keeps all three sizes out of the cache of routes.
            Kind {
                name: "empty segments",
                pieces: 240,
                send: |n| get(&format!("/perl/{}{}", "a".repeat(600), "/".repeat(n)), ""),
            },
            Kind { name: "one name", pieces: 2666, send: |n| get(&format!("/{}", "a".repeat(n)), "") },
            Kind { name: "escapes", pieces: 1333, send: |n| get(&format!("/perl/{}", "%61".repeat(n)), "") },
            Kind {
                name: "names that are no UTF-8",
                pieces: 1333,
                send: |n| get(&format!("/perl/{}", "%e9".repeat(n)), ""),
            },
            Kind { name: "a redirection", pieces: 666, send: |n| get(&format!("/turn{}", "%20".repeat(n)), "") },
            Kind {
                name: "a query",
                pieces: 500,
                send: |n| get(&format!("/perl?{}", each(n, |i| format!("a{i}=b&"))), ""),
            },
            Kind {
                name: "a query for a file",
                pieces: 1000,
                send: |n| get(&format!("/page.html?{}", "a=b&".repeat(n)), ""),
            },
            Kind { name: "a query for a list", pieces: 1000, send: |n| get(&format!("/?{}", "C=S;".repeat(n)), "") },
        ],
    );
}

fn header_fields(counter: &Counter) {
    costs_by_its_length(
        counter,
        &[
            Kind { name: "fields", pieces: 166, send: |n| get("/perl", &each(n, |i| format!("X-{i}: a\r\n"))) },
            Kind { name: "fields of one name", pieces: 166, send: |n| get("/perl", &"X-A: a\r\n".repeat(n)) },
            Kind {
                name: "fields of a file",
                pieces: 166,
                send: |n| get("/page.html", &each(n, |i| format!("X-{i}: a\r\n"))),
            },
            Kind {
                name: "cookies",
                pieces: 1000,
                send: |n| get("/perl", &format!("Cookie: {}\r\n", each(n, |i| format!("a{i}=b; ")))),
            },
            Kind {
                name: "a cookie of one letter",
                pieces: 2666,
                send: |n| get("/perl", &format!("Cookie: {}\r\n", "x".repeat(n))),
            },
            Kind { name: "lines of cookies", pieces: 166, send: |n| get("/perl", &"Cookie: a=b\r\n".repeat(n)) },
            Kind {
                name: "a value that rules look at",
                pieces: 2666,
                send: |n| get("/perl", &format!("User-Agent: {}\r\nX-Long: {}\r\n", "ac".repeat(n), "ab".repeat(n))),
            },
            Kind {
                name: "ranges",
                pieces: 333,
                send: |n| get("/page.html", &format!("Range: bytes={}\r\n", each(n, |i| format!("{0}-{0},", i * 3)))),
            },
            Kind {
                name: "ranges backwards",
                pieces: 333,
                send: |n| {
                    get("/page.html", &format!("Range: bytes={}\r\n", each(n, |i| format!("{0}-{0},", 50_000 - i * 3))))
                },
            },
            Kind {
                name: "ranges that overlap",
                pieces: 333,
                send: |n| get("/page.html", &format!("Range: bytes={}\r\n", each(n, |i| format!("{i}-{},", i + 3)))),
            },
            Kind {
                name: "commas for ranges",
                pieces: 2666,
                send: |n| get("/page.html", &format!("Range: bytes=0-1{}\r\n", ",".repeat(n))),
            },
            Kind {
                name: "If-None-Match",
                pieces: 1000,
                send: |n| get("/page.html", &format!("If-None-Match: {}\r\n", each(n, |i| format!("\"{i}\", ")))),
            },
            Kind {
                name: "If-None-Match without end",
                pieces: 2666,
                send: |n| get("/page.html", &format!("If-None-Match: \"{}\r\n", ",".repeat(n))),
            },
            Kind {
                name: "lines of If-Match",
                pieces: 166,
                send: |n| get("/page.html", &format!("{}If-Match: *\r\n", "If-Match: \"a\"\r\n".repeat(n))),
            },
            Kind {
                name: "Accept-Encoding",
                pieces: 1000,
                send: |n| get("/page.html", &format!("Accept-Encoding: {}\r\n", "a;q=0.1, ".repeat(n))),
            },
            Kind {
                name: "Accept and Accept-Language",
                pieces: 1000,
                send: |n| {
                    get(
                        "/page.html",
                        &format!(
                            "Accept: {0}\r\nAccept-Language: {0}\r\nAccept-Charset: {0}\r\n",
                            "a;q=0.1, ".repeat(n)
                        ),
                    )
                },
            },
            Kind {
                name: "X-Forwarded-For",
                pieces: 1000,
                send: |n| get("/perl", &format!("X-Forwarded-For: 1.2.3.4{}\r\n", ", 10.0.0.1".repeat(n))),
            },
            Kind {
                name: "lines of X-Forwarded-For",
                pieces: 25,
                send: |n| {
                    get("/perl", &format!("X-Forwarded-For: 1.2.3.4\r\n{}", "X-Forwarded-For: 10.0.0.1\r\n".repeat(n)))
                },
            },
            Kind {
                name: "a Host",
                pieces: 2666,
                send: |n| {
                    format!("GET /perl HTTP/1.1\r\nHost: a{}\r\nConnection: close\r\n\r\n", ".a".repeat(n)).into_bytes()
                },
            },
            Kind {
                name: "tokens of Connection",
                pieces: 1000,
                send: |n| get("/perl", &format!("Connection: close{}\r\n", ", a".repeat(n))),
            },
            Kind {
                name: "credentials",
                pieces: 2666,
                send: |n| get("/closed", &format!("Authorization: Basic {}\r\n", "YWFh".repeat(n))),
            },
        ],
    );
}

fn bodies(counter: &Counter) {
    costs_by_its_length(
        counter,
        &[
            Kind { name: "a body", pieces: 33333, send: |n| super::post("/perl", "text/plain", &"x".repeat(n)) },
            Kind { name: "chunks of one byte", pieces: 666, send: |n| chunks("1\r\nx\r\n", n, "") },
            Kind {
                name: "extensions of a chunk",
                pieces: 250,
                send: |n| chunks(&format!("1{}\r\nx\r\n", ";a=b".repeat(n)), 1, ""),
            },
            Kind { name: "chunks with extensions", pieces: 150, send: |n| chunks("1;a=\"b\"\r\nx\r\n", n, "") },
            Kind { name: "trailers", pieces: 20, send: |n| chunks("1\r\nx\r\n", 1, &"X-A: a\r\n".repeat(n)) },
            Kind {
                name: "empty requests before one",
                pieces: 50,
                send: |n| {
                    [
                        get("/perl", "")
                            .as_slice()
                            .strip_suffix(b"Connection: close\r\n\r\n")
                            .map_or(Vec::new(), |head| [head, b"\r\n"].concat())
                            .repeat(n),
                        get("/perl", ""),
                    ]
                    .concat()
                },
            },
        ],
    );
}

fn chunks(chunk: &str, pieces: usize, trailers: &str) -> Vec<u8> {
    let head = "POST /perl HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    format!("{head}{}0\r\n{trailers}\r\n", chunk.repeat(pieces)).into_bytes()
}
