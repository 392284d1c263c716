//! The cost by length of libapreq 2, with which mod_perl 2 sites read forms and cookies.

use super::{Kind, costs_by_its_length, counter, each, get, post};
use crate::support::{Counter, Site};

const WORK: &str = r#"package Work;
use v5.36;
use Apache2::RequestRec ();
use Apache2::RequestIO ();
use Apache2::Request ();
use Apache2::Upload ();
use Apache2::Cookie ();
my %DO = (
    status  => sub ($q) { $q->body_status },
    params  => sub ($q) { $q->param($_) for $q->param },
    tables  => sub ($q) { for ( $q->param ) { my $value = $q->param->{$_} } },
    uploads => sub ($q) { $q->upload($_)->size for $q->upload },
    cookies => sub ($q) { $q->jar_status; $q->jar($_) for eval { $q->jar } },
);
sub handler ($r) {
    my ($what) = $r->uri =~ m{^/do/(\w+)};
    $DO{$what}->( Apache2::Request->new($r) );
    $r->print('done');
    return 0;
}
1;
"#;

const CONF: &str = "PerlSwitches -Ilib\n<Location /do>\nSetHandler modperl\nPerlResponseHandler Work\n</Location>\n";

const FORM: &str = "application/x-www-form-urlencoded";

fn multipart(parts: &str) -> Vec<u8> {
    post("/do/status", "multipart/form-data; boundary=b", &format!("{parts}--b--\r\n"))
}

/// A multipart body of one part with `parameters` in its Content-Disposition.
fn part(parameters: &str) -> Vec<u8> {
    multipart(&format!("--b\r\nContent-Disposition: form-data{parameters}\r\n\r\nvalue\r\n"))
}

fn files(n: usize) -> String {
    each(n, |i| format!("--b\r\nContent-Disposition: form-data; name=\"a{i}\"; filename=\"f\"\r\n\r\nvalue\r\n"))
}

fn blanks(n: usize) -> String {
    " ".repeat(n)
}

#[test]
fn headers_and_bodies_cost_a_worker_by_their_length() {
    let counter = counter(Site::new().file("lib/Work.pm", WORK), CONF);
    headers(&counter);
    bodies(&counter);
}

fn headers(counter: &Counter) {
    costs_by_its_length(
        counter,
        &[
            Kind { name: "blanks before a value", pieces: 800, send: |n| part(&format!("; name=a;{}=\"x", blanks(n))) },
            Kind { name: "blanks in a name", pieces: 800, send: |n| part(&format!("; n{}a=\"x", " a".repeat(n))) },
            Kind { name: "blanks in a value", pieces: 3000, send: |n| part(&format!("; name=a{}b", blanks(n))) },
            Kind { name: "blanks and a tab", pieces: 1500, send: |n| part(&format!("; name={}b\tc", blanks(2 * n))) },
            Kind { name: "a text in quotes", pieces: 1500, send: |n| part(&format!("; name=\"{}", "\\\"".repeat(n))) },
            Kind { name: "parameters", pieces: 800, send: |n| part(&format!("{}; name=a", ";a=b".repeat(n))) },
            Kind {
                name: "blanks in a type",
                pieces: 2000,
                send: |n| post("/do/status", &format!("multipart/form-data{}x;boundary=b", blanks(n)), "a"),
            },
            Kind {
                name: "blanks behind a type",
                pieces: 800,
                send: |n| post("/do/status", &format!("multipart/form-data; boundary=a;{}=\"x", blanks(n)), "a"),
            },
            Kind {
                name: "cookies",
                pieces: 333,
                send: |n| get("/do/cookies", &format!("Cookie: {}\r\n", each(n, |i| format!("a{i}=; ")))),
            },
            Kind {
                name: "blanks in a cookie",
                pieces: 2000,
                send: |n| get("/do/cookies", &format!("Cookie: a{}b=\"{0}\r\n", blanks(n))),
            },
        ],
    );
}

fn bodies(counter: &Counter) {
    costs_by_its_length(
        counter,
        &[
            Kind { name: "fields", pieces: 250, send: |n| post("/do/params", FORM, &each(n, |i| format!("a{i}=b&"))) },
            Kind {
                name: "fields in a table",
                pieces: 250,
                send: |n| post("/do/tables", FORM, &each(n, |i| format!("a{i}=b&"))),
            },
            Kind {
                name: "uploads",
                pieces: 100,
                send: |n| post("/do/uploads", "multipart/form-data; boundary=b", &(files(n) + "--b--\r\n")),
            },
            Kind {
                name: "lines of a part's header",
                pieces: 1000,
                send: |n| multipart(&format!("--b\r\n{}\r\nvalue\r\n", "a:\n".repeat(n))),
            },
            Kind {
                name: "multiparts in parts",
                pieces: 200,
                send: |n| multipart(&"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c--\r\n".repeat(n)),
            },
        ],
    );
}
