//! The cost by length of the API's functions that read client input, in a worker with its Perl.

use super::{Kind, costs_by_its_length, counter, each, get, post};
use crate::support::Site;

const WORK: &str = r#"package Work;
use v5.36;
use Apache::Request ();
use Apache::Cookie ();
use Apache::Util ();
use Apache::URI ();
my %DO = (
    nothing => sub ($r) { },
    params  => sub ($r) { my $q = Apache::Request->new($r); my @n = $q->param; $q->param($n[-1]) },
    uploads => sub ($r) { my $q = Apache::Request->new($r); my @u = $q->upload; $_->size for @u },
    args    => sub ($r) { my @a = $r->args },
    content => sub ($r) { my @c = $r->content },
    lines   => sub ($r) { while (defined(my $line = <STDIN>)) { } },
    bytes   => sub ($r) { while ($r->read(my $buffer, 10)) { } },
    cookies => sub ($r) { my %c = Apache::Cookie->fetch },
    headers => sub ($r) { my %h = $r->headers_in; $r->headers_in->do(sub { 1 }); $r->as_string },
    escapes => sub ($r) { my $a = $r->args; Apache::Util::escape_html($a); Apache::Util::escape_uri($a);
                          Apache::Util::unescape_uri($a); Apache::Util::unescape_uri_info($a); Apache::Util::parsedate($a) },
    uri     => sub ($r) { Apache::URI->parse($r, scalar $r->args)->unparse; $r->parsed_uri->rpath },
    lookup  => sub ($r) { $r->lookup_uri('/sub' . $r->path_info)->filename },
    up      => sub ($r) { $r->lookup_uri('/sub?' . $r->args)->args },
    print   => sub ($r) { $r->print($_) for split //, scalar $r->args },
    lists   => sub ($r) { $r->header_out(Vary => $r->args); $r->set_content_length(0); $r->meets_conditions },
);
sub handler ($r) {
    my ($what) = $r->uri =~ m{^/do/(\w+)};
    $r->content_type('text/plain');
    $DO{$what}->($r);
    $r->send_http_header;
    $r->print('done');
    return 0;
}
1;
"#;

const CONF: &str = "PerlLib lib\nPerlModule Work\nPerlSetupEnv On\n\
    <Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
    <FilesMatch \"^a$\">\nForceType text/plain\n</FilesMatch>\n\
    <Location /do>\nSetHandler perl-script\nPerlHandler Work\n</Location>\n";

fn form(n: usize) -> String {
    each(n, |i| format!("a{i}=b%20c+d&"))
}

fn parts(n: usize, file: &str) -> String {
    each(n, |i| format!("--b\r\nContent-Disposition: form-data; name=\"a{i}\"{file}\r\n\r\nvalue\r\n")) + "--b--\r\n"
}

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data; boundary=b";

#[test]
fn input_read_by_the_api_costs_a_worker_by_its_length() {
    let site = Site::new().file("lib/Work.pm", WORK).file("htdocs/index.html", "");
    costs_by_its_length(
        &counter(site, CONF),
        &[
            Kind { name: "fields of a form", pieces: 333, send: |n| post("/do/params", FORM, &form(n)) },
            Kind {
                name: "one field",
                pieces: 16666,
                send: |n| post("/do/params", FORM, &format!("a={}", "+".repeat(n))),
            },
            Kind { name: "parts of a form", pieces: 200, send: |n| post("/do/params", MULTIPART, &parts(n, "")) },
            Kind {
                name: "a part of beginnings of the boundary",
                pieces: 10000,
                send: |n| {
                    post(
                        "/do/params",
                        MULTIPART,
                        &format!(
                            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n{}\r\n--b--\r\n",
                            "\r\n--\r\n-".repeat(n / 7)
                        ),
                    )
                },
            },
            Kind {
                name: "a part's header",
                pieces: 200,
                send: |n| {
                    post(
                        "/do/params",
                        MULTIPART,
                        &format!(
                            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n{}\r\nvalue\r\n--b--\r\n",
                            "X-A: b\r\n".repeat(n)
                        ),
                    )
                },
            },
            Kind {
                name: "a part's header that goes on",
                pieces: 166,
                send: |n| {
                    post(
                        "/do/params",
                        MULTIPART,
                        &format!(
                            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\nX: y\r\n{}\r\nvalue\r\n--b--\r\n",
                            " a\r\n".repeat(n)
                        ),
                    )
                },
            },
            Kind {
                name: "a part's parameters",
                pieces: 333,
                send: |n| {
                    post(
                        "/do/params",
                        MULTIPART,
                        &format!(
                            "--b\r\nContent-Disposition: form-data{}; name=\"a\"\r\n\r\nvalue\r\n--b--\r\n",
                            ";a=b".repeat(n)
                        ),
                    )
                },
            },
            Kind {
                // The small and the large body are stored in a file: creating the file is a step in cost that would
                // hide a search this fast.
                name: "before the first part",
                pieces: 70_000,
                send: |n| post("/do/params", MULTIPART, &format!("{}\r\n{}", "-".repeat(n), parts(1, ""))),
            },
            Kind {
                name: "uploads",
                pieces: 30,
                send: |n| post("/do/uploads", MULTIPART, &parts(n, "; filename=\"f\"")),
            },
            Kind { name: "$r->args", pieces: 333, send: |n| get(&format!("/do/args?{}", form(n)), "") },
            Kind { name: "$r->content", pieces: 333, send: |n| post("/do/content", FORM, &form(n)) },
            Kind { name: "lines of STDIN", pieces: 666, send: |n| post("/do/lines", "text/plain", &"ab\n".repeat(n)) },
            Kind { name: "pieces of a body", pieces: 3333, send: |n| post("/do/bytes", "text/plain", &"x".repeat(n)) },
            Kind {
                name: "cookies",
                pieces: 100,
                send: |n| get("/do/cookies", &format!("Cookie: {}\r\n", each(n, |i| format!("a{i}=b&c; ")))),
            },
            Kind {
                name: "a cookie of many values",
                pieces: 333,
                send: |n| get("/do/cookies", &format!("Cookie: a={}\r\n", "b&".repeat(n))),
            },
            Kind {
                name: "a cookie below a long name",
                pieces: 333,
                send: |n| get(&format!("/do/cookies/{}/x", "a".repeat(n)), "Cookie: a=b\r\n"),
            },
            Kind {
                name: "header fields",
                pieces: 100,
                send: |n| get("/do/headers", &each(n, |i| format!("X-{i}: a\r\n"))),
            },
            Kind {
                name: "header fields of one name",
                pieces: 100,
                send: |n| get("/do/headers", &"X-A: a\r\n".repeat(n)),
            },
            Kind { name: "escapes", pieces: 666, send: |n| get(&format!("/do/escapes?{}", "%3Ca+b".repeat(n)), "") },
            Kind {
                name: "an address",
                pieces: 666,
                send: |n| get(&format!("/do/uri?http://a:b@c:80/{}", "@:/".repeat(n)), ""),
            },
            Kind { name: "a path", pieces: 240, send: |n| get(&format!("/do/nothing{}", "/a".repeat(n)), "") },
            Kind {
                name: "a path that a subrequest is for",
                pieces: 200,
                send: |n| get(&format!("/do/lookup{}", "/a".repeat(n)), ""),
            },
            Kind {
                name: "a query that a subrequest is for",
                pieces: 1333,
                send: |n| get(&format!("/do/up?{}", "a".repeat(n)), ""),
            },
            Kind {
                name: "prints of one byte",
                pieces: 333,
                send: |n| get(&format!("/do/print?{}", "a".repeat(n)), ""),
            },
            Kind {
                name: "conditions",
                pieces: 333,
                send: |n| get("/do/lists", &format!("If-None-Match: {}\r\nIf-Match: {0}\r\n", "\"a\", ".repeat(n))),
            },
        ],
    );
}
