//! Status line and headers: which of several settings of the same value is sent, as in Apache with mod_perl 2.0.12.

use super::{serve, site};
use crate::support::{Request, Response, Server};

/// A handler that runs the sub named by the query string. `inside` is appended to its location.
#[track_caller]
fn subs(code: &str, inside: &str) -> Server {
    serve(&format!("{code}\nsub handler {{ my $r = shift; no strict 'refs'; &{{ $r->args }}($r) }}"), inside)
}

fn all(response: &Response, name: &str) -> Vec<String> {
    response.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone()).collect()
}

#[test]
fn an_encoding_set_in_two_ways_is_sent_once() {
    let server = subs(
        "sub out { my $r = shift; $r->headers_out->{'Content-Encoding'} = 'gzip'; $r->content_encoding('x-own'); $r->print('x'); 0 }\n\
         sub err { my $r = shift; $r->err_headers_out->{'content-encoding'} = 'gzip'; $r->content_encoding('x-own'); $r->print('x'); 0 }\n\
         sub taken_back { my $r = shift; $r->headers_out->{'Content-Encoding'} = 'gzip'; $r->content_encoding('x-own');\n\
         $r->content_encoding(undef); $r->print('x'); 0 }\n\
         sub language { my $r = shift; $r->headers_out->{'Content-Language'} = 'de'; $r->content_languages(['fr']); $r->print('x'); 0 }",
        "",
    );
    for (sub, expected) in [("out", "x-own"), ("err", "x-own"), ("taken_back", "gzip")] {
        assert_eq!(all(&server.get(&format!("/my?{sub}")), "Content-Encoding"), [expected], "{sub}");
    }
    assert_eq!(all(&server.get("/my?language"), "Content-Language").len(), 1);
}

#[test]
fn a_status_line_counts_with_the_number_of_the_status_only() {
    let server = subs(
        "sub alone { my $r = shift; $r->status_line('402 Pay Up'); $r->print($r->status); 0 }\n\
         sub taken_back { my $r = shift; $r->status_line('404 Nope'); $r->status_line(undef); $r->print($r->status); 0 }\n\
         sub other { my $r = shift; $r->status_line('402 Pay Up'); $r->status(403); $r->print('x'); 0 }\n\
         sub behind { my $r = shift; $r->status(402); $r->status_line('402 Pay Up'); $r->print('x'); 0 }\n\
         sub before { my $r = shift; $r->status_line('402 Pay Up'); $r->status(402); $r->print('x'); 0 }\n\
         sub returned { my $r = shift; $r->status_line('404 Nope'); 404 }\n\
         sub silent { my $r = shift; $r->status_line('403 Nope'); 0 }",
        "",
    );
    let cases = [
        ("alone", "200 OK", "200"),
        ("taken_back", "200 OK", "200"),
        ("other", "403 Forbidden", "x"),
        ("behind", "402 Pay Up", "x"),
        ("before", "402 Pay Up", "x"),
        ("silent", "200 OK", ""),
    ];
    for (sub, line, body) in cases {
        let response = exchange(&server, &format!("/my?{sub}"));
        assert!(
            response.starts_with(&format!("HTTP/1.1 {line}\r\n")) && response.ends_with(&format!("\r\n\r\n{body}")),
            "{sub}: {response}"
        );
    }
    assert!(exchange(&server, "/my?returned").starts_with("HTTP/1.1 404 Nope\r\n"));
}

/// The response's raw bytes.
fn exchange(server: &Server, target: &str) -> String {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    String::from_utf8_lossy(&connection.rest()).into_owned()
}

/// A filter that prints the status and headers it sees at the first data, and then the response.
const SEES: &str = "use Apache2::Filter ();\nuse APR::Table ();\n\
    sub sees { my $f = shift; my $r = $f->r;\n\
    $f->print(join ' ', $r->status, map { join ',', map { \"$_->[0]=$_->[1]\" } sort { $a->[0] cmp $b->[0] } @{ pairs($_) } }\n\
    $r->headers_out, $r->err_headers_out) unless $f->ctx;\n\
    $f->ctx(1); $f->print(' '); while ($f->read(my $t, 99_999)) { $f->print(substr $t, 0, 4) } 0 }\n\
    sub pairs { my @pairs; shift->do(sub { push @pairs, [@_]; 1 }); return \\@pairs }\n";

const SCRIPT: &str = "print \"Status: 201 Made\\nX-One: v\\nX-Two: 1\\nContent-Type: text/plain\\nX-Two: 2\\nSet-Cookie: a\\n\
    Set-Cookie: b\\nETag: \\\"e\\\"\\n\\nbody\";";

#[test]
fn a_filter_sees_the_scripts_status_and_headers() {
    let sees = "PerlOutputFilterHandler My::sees";
    let lines = format!(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\nPerlModule ModPerl::Registry\nAlias /perl/ @DIR@/scripts/\n\
         Alias /cgi/ @DIR@/scripts/\n<Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::Registry\n\
         PerlOptions +ParseHeaders\nOptions +ExecCGI\n{sees}\n</Location>\n\
         <Location /cgi>\nSetHandler cgi-script\nOptions +ExecCGI\n{sees}\n</Location>\n\
         <Location /my>\nSetHandler perl-script\nPerlOptions +ParseHeaders\nPerlResponseHandler My\n{sees}\n</Location>"
    );
    let long = SCRIPT.replace(";", "; print 'x' x 20_000;");
    let code = format!("{SEES}sub handler {{ {SCRIPT} 0 }}");
    let site = site(&code).script("scripts/a.pl", &format!("#!/usr/bin/perl\n{SCRIPT}")).file("scripts/long.pl", &long);
    let server = site.file("scripts/moved.pl", "print \"Location: http://a.test/\\n\\nbody\";").serve(&lines);
    for target in ["/my", "/cgi/a.pl", "/perl/a.pl", "/perl/a.pl", "/perl/long.pl", "/perl/long.pl"] {
        let response = server.get(target).is(201);
        let seen = "201 ETag=\"e\" Set-Cookie=a,Set-Cookie=b,X-One=v,X-Two=1, 2 body";
        assert_eq!(response.text().get(..seen.len()), Some(seen), "{target}");
        assert_eq!(all(&response, "X-Two"), ["1, 2"], "{target}");
        assert_eq!(all(&response, "Set-Cookie"), ["a", "b"], "{target}");
        assert!(!response.text().contains("<html"), "{target}: {}", response.text());
    }
    server.get("/perl/moved.pl").is(302);
}

#[test]
fn an_error_that_is_returned_behind_a_body_stands_there() {
    let server = subs(
        "use Apache2::Response ();\n\
         sub error { my $r = shift; $r->print('before'); 404 }\n\
         sub flushed { my $r = shift; $r->print('before'); $r->rflush; 404 }\n\
         sub moved { my $r = shift; $r->headers_out->{Location} = 'http://a.test/'; $r->print('before'); 302 }\n\
         sub said { my $r = shift; $r->status(403); $r->print('before'); 404 }\n\
         sub own { my $r = shift; $r->custom_response(404, 'own words'); $r->print('before'); 404 }\n\
         sub nothing { my $r = shift; $r->print(''); 404 }\n\
         sub bodyless { my $r = shift; $r->print('before'); 304 }\n\
         sub header { my $r = shift; $r->headers_out->{'X-Bad'} = \"a\\nb\"; $r->print('before'); 404 }",
        "",
    );
    let page = |status: &str| {
        format!("before<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{status}")
    };
    let cases = [
        ("error", 200, page("404 Not Found")),
        ("flushed", 200, page("404 Not Found")),
        ("moved", 200, page("302 Found")),
        ("said", 403, page("404 Not Found")),
        ("own", 200, "beforeown words".to_owned()),
        ("nothing", 404, "<!DOCTYPE html>".to_owned()),
        ("bodyless", 200, "before".to_owned()),
        ("header", 500, "<!DOCTYPE html>".to_owned()),
    ];
    for (sub, status, text) in cases {
        let response = server.get(&format!("/my?{sub}"));
        assert_eq!(response.status, status, "{sub}");
        assert!(response.text().starts_with(&text), "{sub}: {}", response.text());
    }
    assert_eq!(server.text("/my?bodyless"), "before");
}

#[test]
fn the_page_behind_a_filtered_body_passes_no_filter() {
    let code = "use Apache2::Filter ();\n\
        sub upper { my $f = shift; while ($f->read(my $t, 99)) { $f->print(uc $t) } 0 }\n\
        sub handler { my $r = shift; $r->print('before'); 404 }";
    let response = serve(code, "PerlOutputFilterHandler My::upper").get("/my").is(200);
    assert!(response.text().starts_with("BEFORE<!DOCTYPE html>"), "{}", response.text());
}

/// RFC 9110, 8.6 forbids a length with 204; Apache sends none with 304 either.
#[test]
fn an_answer_without_content_has_no_length_also_for_head() {
    let server = subs(
        "sub none { my $r = shift; $r->status(204); $r->print('body' x 100); 0 }\n\
         sub said { my $r = shift; $r->status(204); $r->headers_out->{'Content-Length'} = 5; 0 }\n\
         sub same { my $r = shift; $r->status(304); $r->print('body' x 100); 0 }\n\
         sub some { my $r = shift; $r->print('body' x 100); 0 }",
        "",
    );
    for method in ["GET", "HEAD"] {
        for (sub, length) in [("none", None), ("said", None), ("same", None), ("some", Some("400"))] {
            let response = server.send(Request::new(method, &format!("/my?{sub}")));
            assert_eq!(response.header("Content-Length").as_deref(), length, "{method} {sub}");
        }
    }
}

/// `$r->notes` is a table of the request, and of the same kind as those of [`APR::Table`].
#[test]
fn a_table_holds_many_names_and_finds_each_at_once() {
    let code = "use APR::Table ();\nuse Time::HiRes 'time';\n\
        sub handler { my $r = shift; my ($notes, $began, $found) = ($r->notes, time, 0);\n\
        $notes->set(\"k$_\" => $_) for 1 .. 100_000; $notes->get(\"K$_\") == $_ and $found++ for 1 .. 100_000;\n\
        $notes->unset('k5'); $notes->add(k7 => 'again'); $notes->set(k6 => 'six');\n\
        my @first; $notes->do(sub { push @first, \"$_[0]=$_[1]\"; @first < 6 });\n\
        $r->print(join ' ', $found, @first, time - $began < 8 ? 'soon' : 'late'); 0 }";
    assert_eq!(serve(code, "").text("/my"), "100000 k1=1 k2=2 k3=3 k4=4 k6=six k7=7 soon");
}

#[test]
fn a_request_that_loads_posix_leaves_the_signal_mask_alone() {
    let code = "sub handler { my $r = shift; require POSIX; POSIX->import;\n\
        POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new(POSIX::SIGUSR2())) if $r->args; $r->print('loaded'); 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "loaded");
    assert_eq!(server.text("/my"), "loaded");
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
    assert_eq!(server.text("/my?block"), "loaded");
    server.logged("changed and restored: the signal mask");
}

#[test]
fn headers_set_after_a_printed_header_and_before_the_body_count() {
    let modules = "use Apache2::RequestRec ();\nuse Apache2::RequestIO ();\nuse Apache2::Response ();\nuse APR::Table ();\n\
        my $r = Apache2::RequestUtil->request;\n";
    let later = "$r->content_type('text/xml'); $r->headers_out->set('X-B' => 2); $r->status(201); $r->print('<x/>');";
    let site = site("sub handler { 0 }")
        .file(
            "scripts/printed.pl",
            &format!("{modules}$| = 1;\nprint qq{{Content-Type: text/html\nX-A: 1\n\n}};\n{later}"),
        )
        .file(
            "scripts/sent.pl",
            &format!("{modules}my $h = qq{{Content-Type: text/html\nX-A: 1\n\n}}; $r->send_cgi_header($h);\n{later}"),
        )
        .file(
            "scripts/taken.pl",
            &format!("{modules}print qq{{X-A: 1\nX-B: 1\n\n}}; $r->err_headers_out->unset('X-B'); {later}"),
        )
        .file("scripts/body.pl", "print qq{Content-Type: text/plain\n\nX-C: 3\n\nbody};");
    let server = site.serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\nPerlModule ModPerl::Registry\nAlias /perl/ @DIR@/scripts/\n\
         <Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::Registry\nPerlOptions +ParseHeaders +GlobalRequest\n\
         Options +ExecCGI\n</Location>",
    );
    for script in ["printed", "sent", "taken"] {
        let response = server.get(&format!("/perl/{script}.pl")).is(201);
        for (name, expected) in [("Content-Type", "text/xml"), ("X-A", "1"), ("X-B", "2")] {
            assert_eq!(all(&response, name), [expected], "{script} {name}");
        }
        assert_eq!(response.text(), "<x/>", "{script}");
    }
    let response = server.get("/perl/body.pl");
    assert_eq!((response.text().as_str(), response.header("x-c")), ("X-C: 3\n\nbody", None), "one header is enough");
}

#[test]
fn a_response_without_a_type_has_that_of_its_name_or_none() {
    let server = subs(
        "sub body { $_[0]->print('x'); 0 } sub empty { 0 } sub missing { $_[0]->status(404); $_[0]->print('x'); 0 }\n\
         sub away { my $r = shift; $r->headers_out->{Location} = 'http://example.org/'; $r->status(302); $r->print('x'); 0 }",
        "",
    );
    for sub in ["body", "empty", "missing", "away"] {
        assert_eq!(server.get(&format!("/my?{sub}")).header("content-type"), None, "{sub}");
    }
    assert_eq!(server.get("/my/a.txt?body").header("content-type"), None, "the rest of a path is no name");
}
