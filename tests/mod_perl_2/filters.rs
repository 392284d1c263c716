//! Request filters: the bodies and responses they see, and the response when a filter fails.

use super::{conf, serve, site};
use crate::support::{Request, Server};

/// A handler that prints "Hello" and the request's body, with filter subs.
const HANDLER: &str = "use Apache2::Filter ();\nuse base 'Apache2::Filter';\n\
    sub handler { my $r = shift; $r->content_type('text/plain'); $r->print('Hello'); $r->print($_) for body($r); 0 }\n\
    sub body { my $r = shift; my $all = ''; while ($r->read(my $piece, 7)) { $all .= $piece } $all }\n\
    sub upper { my $f = shift; while ($f->read(my $text, 3)) { $f->print(uc $text) } 0 }\n\
    sub sign { my $f = shift; while ($f->read(my $text, 1000)) { $f->print($text) } $f->print('.') if $f->seen_eos; 0 }\n";

#[track_caller]
pub fn filtered(code: &str, inside: &str) -> Server {
    serve(&format!("{HANDLER}{code}"), inside)
}

/// Configures `/my/other`, where another handler answers.
fn other(handler: &str, inside: &str) -> String {
    format!("</Location>\n<Location /my/other>\nPerlResponseHandler My::{handler}\n{inside}")
}

#[test]
fn an_answer_passes_its_filters_in_their_order() {
    let server = filtered("", "PerlOutputFilterHandler My::upper\nPerlOutputFilterHandler My::sign");
    assert_eq!(server.text("/my"), "HELLO.");
    assert_eq!(server.post("/my", " you").text(), "HELLO YOU.");
}

#[test]
fn a_body_passes_the_one_next_to_the_program_last() {
    let code = "sub outer { my $f = shift; while ($f->read(my $t, 99)) { $f->print(\"<$t>\") } 0 }\n\
        sub inner { my $f = shift; while ($f->read(my $t, 99)) { $f->print(\"[$t]\") } 0 }";
    let server = filtered(code, "PerlInputFilterHandler My::inner\nPerlInputFilterHandler My::outer");
    assert_eq!(server.post("/my", "x").text(), "Hello[<x>]");
}

#[test]
fn a_script_reads_the_filtered_body_from_stdin() {
    let code = "sub script { my $r = shift; local $/; $r->print(length($_), substr $_, 0, 3) for scalar <STDIN>; 0 }\n\
        sub twice { my $f = shift; while ($f->read(my $t, 99)) { $f->print(uc $t, uc $t) } 0 }";
    let server = filtered(code, &other("script", "SetHandler perl-script\nPerlInputFilterHandler My::twice"));
    assert_eq!(server.post("/my/other", &"abc".repeat(30_000)).text(), "180000ABC");
    assert_eq!(server.post("/my/other", "abc").text(), "6ABC");
}

#[test]
fn brigades_go_from_filter_to_filter() {
    let code = "use APR::Brigade (); use APR::Bucket ();\n\
        sub reverse_all : FilterRequestHandler { my ($f, $bb) = @_;\n\
        for (my $b = $bb->first; $b; $b = $bb->next($b)) { last if $b->is_eos; next unless $b->read(my $data);\n\
        my $new = APR::Bucket->new($bb->bucket_alloc, scalar reverse $data); $b->insert_before($new); $b->delete; $b = $new }\n\
        $f->next->pass_brigade($bb) }";
    assert_eq!(filtered(code, "PerlOutputFilterHandler My::reverse_all").text("/my"), "olleH");
}

#[test]
fn a_content_length_set_before_the_filters_is_not_sent() {
    let code =
        "sub short { my $r = shift; $r->headers_out->set('Content-Length' => 5); $r->print('Hello'); $r->rflush; 0 }";
    let response = filtered(code, &other("short", "PerlOutputFilterHandler My::sign")).get("/my/other");
    assert_eq!(response.text(), "Hello.");
    // The front may send a Content-Length when it has the complete response in time; that length is not 5.
    assert_ne!(response.header("Content-Length"), Some("5".to_owned()));
}

#[test]
fn a_filter_may_set_headers_before_its_first_output() {
    let code = "sub all { my $f = shift; my $all = $f->ctx // ''; while ($f->read(my $t, 99)) { $all .= $t } $f->ctx($all);\n\
        return 0 unless $f->seen_eos; $f->r->headers_out->set('Content-Length' => 2 * length $all);\n\
        $f->r->headers_out->set('X-Filter' => 'yes'); $f->print($all, $all); 0 }";
    let response = filtered(code, "PerlOutputFilterHandler My::all").get("/my");
    assert_eq!(response.text(), "HelloHello");
    assert_eq!(response.header("Content-Length"), Some("10".to_owned()));
    assert_eq!(response.header("X-Filter"), Some("yes".to_owned()));
}

#[test]
fn files_of_a_filtered_place_pass_its_filters() {
    let text = "line\n".repeat(500_000);
    let inside = "</Location>\n<Directory docs>\nRequire all granted\nPerlOutputFilterHandler My::upper\n</Directory>\n<Location /my>";
    let site =
        site(HANDLER).file("docs/a.txt", "small file").file("docs/large.txt", &text).file("docs/.htpasswd", "secret");
    let server = site.serve(&format!("DocumentRoot docs\n{}", conf(inside)));
    let response = server.get("/a.txt");
    assert_eq!(response.header("Content-Type"), Some("text/plain".to_owned()));
    assert_eq!(response.text(), "SMALL FILE");
    assert_eq!(server.text("/large.txt"), text.to_uppercase());
    server.get("/missing.txt").is(404);
    assert!(!server.get("/.htpasswd").text().contains("SECRET"));
    let head = server.connect().ask(Request::new("HEAD", "/a.txt"));
    assert_eq!(head.status, 200);
}

#[test]
fn a_filtered_file_answers_304_until_it_changes() {
    let inside = "</Location>\n<Directory docs>\nRequire all granted\nPerlOutputFilterHandler My::upper\n</Directory>\n<Location /my>";
    let server = site(HANDLER).file("docs/a.txt", "text").serve(&format!("DocumentRoot docs\n{}", conf(inside)));
    let [tag, date] = ["ETag", "Last-Modified"].map(|name| server.get("/a.txt").header(name).expect(name));
    for (name, value) in [("If-None-Match", &tag), ("If-Modified-Since", &date)] {
        let same = server.send(Request::get("/a.txt").header(name, value));
        assert_eq!((same.status, same.text().as_str()), (304, ""), "{name}: {value}");
    }
    server.send(Request::get("/a.txt").header("If-Match", "\"other\"")).is(412);
    let changed = server.send(Request::get("/a.txt").header("If-None-Match", "\"other\""));
    assert_eq!((changed.status, changed.text().as_str()), (200, "TEXT"));
}

#[test]
fn perl_code_adds_filters_and_takes_them_away() {
    let code = "sub adds { my $r = shift; $r->add_output_filter('upper'); $r->add_output_filter(sub { $_[0]->remove; -1 });\n\
        $r->add_input_filter(\\&upper); -1 }";
    let server = filtered(code, "PerlHeaderParserHandler My::adds");
    assert_eq!(server.text("/my"), "HELLO");
    assert_eq!(server.post("/my", "abc").text(), "HELLOABC");
}

#[test]
fn the_init_handler_of_a_filter_runs_once_before_the_filter() {
    let code = "sub init : FilterInitHandler { my $f = shift; $f->ctx('>'); 0 }\n\
        sub marked : FilterRequestHandler FilterHasInitHandler(\\&init) { my $f = shift; $f->print($f->ctx); $f->ctx('');\n\
        while ($f->read(my $t, 99)) { $f->print($t) } 0 }";
    assert_eq!(filtered(code, "PerlOutputFilterHandler My::marked").text("/my"), ">Hello");
}

#[test]
fn a_subrequest_passes_the_filters_that_it_is_given() {
    let code = "use Apache2::SubRequest ();\n\
        sub part { $_[0]->print('part'); 0 }\n\
        sub whole { my $r = shift; my $f = $r->args ? $r->output_filters : undef; $r->lookup_uri('/part', $f)->run; 0 }";
    let inside = "PerlOutputFilterHandler My::upper\n</Location>\n<Location /part>\nSetHandler modperl\nPerlResponseHandler My::part";
    let server = filtered(code, &other("whole", inside));
    assert_eq!(server.text("/my/other"), "part");
    assert_eq!(server.text("/my/other?through"), "PART");
}

#[test]
fn a_filter_that_dies_is_an_error_or_a_visible_truncation() {
    let code = "my $seen = 0;\n\
        sub dies { my $f = shift; die \"no filter today\\n\" if ++$seen > 9;\n\
        while ($f->read(my $t, 9000)) { $f->print($t) } 0 }\n\
        sub at_once { die \"no filter at all\\n\" }\n\
        sub late { my $r = shift; for (1 .. 9) { $r->print('x' x 9000); $r->rflush } 0 }";
    let server = filtered(code, "PerlOutputFilterHandler My::at_once");
    server.get("/my").is(500);
    server.logged("no filter at all");
    let server = filtered(code, &other("late", "PerlOutputFilterHandler My::dies"));
    let mut connection = server.connect();
    connection.raw("GET /my/other HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(connection.head().status, 200);
    let (_, is_whole) = connection.ending();
    assert!(!is_whole);
    server.logged("no filter today");
}

#[test]
fn a_loop_is_ended_by_the_request_s_time() {
    let code = "sub loops { 1 while 1 }";
    let server = filtered(code, "RequestTimeout 1\nPerlOutputFilterHandler My::loops");
    server.get("/my").is(504);
}

#[test]
fn a_filter_object_used_after_its_request_dies_with_a_message() {
    let code = "our $kept; sub keeps { $kept = shift; -1 }\n\
        sub later { my $r = shift; $r->print($kept ? join '|', map { eval { $kept->$_; 1 } ? 'alive' : $@ } qw(print remove) : ''); 0 }";
    let inside = "PerlOutputFilterHandler My::keeps\n</Location>\n<Location /later>\nSetHandler modperl\nPerlResponseHandler My::later";
    let server = filtered(code, inside);
    assert_eq!(server.text("/my"), "Hello");
    let body = server.text("/later");
    assert!(body.contains("is not running") && body.contains("this request is over"), "{body}");
}

#[test]
fn an_impossible_filter_ends_the_start_with_its_reason() {
    let code = format!("{HANDLER}sub raw : FilterConnectionHandler {{ 0 }}");
    let refused = |line: &str, why: &str| {
        let site = site(&code);
        site.configure(&conf(line));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, why);
    };
    refused("PerlInputFilterHandler My::raw", "is a connection filter, which is not supported");
    refused("PerlOutputFilterHandler My::Missing", "My::Missing has no sub handler");
    refused("PerlSetInputFilter INCLUDES", "INCLUDES filters responses");
}

#[test]
fn exit_ends_a_filter_s_turn_only() {
    let code = "sub leaves { my $f = shift; while ($f->read(my $t, 99)) { $f->print($t) } $f->print('!') if $f->seen_eos; exit }";
    assert_eq!(filtered(code, "PerlOutputFilterHandler My::leaves").text("/my"), "Hello!");
}

#[test]
fn an_internal_redirect_drops_the_filters_of_the_first_location() {
    let code = "use Apache2::SubRequest ();\n\
        sub leads { my $r = shift; $r->print('first '); $r->internal_redirect('/second'); 0 }\n\
        sub second { $_[0]->print('second'); 0 }";
    let inside = "PerlOutputFilterHandler My::upper\n</Location>\n<Location /second>\nSetHandler modperl\nPerlResponseHandler My::second";
    assert_eq!(filtered(code, &other("leads", inside)).text("/my/other"), "FIRST second");
}

#[test]
fn output_filters_may_grow_perls_stack_during_print() {
    let code = "sub says { my @all = map { \"$_,\" } 1 .. 5000; print STDOUT @all; print 'end'; 0 }\n\
        sub deep { my $f = shift; my @stack = map { $_ } 1 .. 50_000; while ($f->read(my $t, 99)) { $f->print($t) } 0 }";
    let server = filtered(code, &other("says", "SetHandler perl-script\nPerlOutputFilterHandler My::deep"));
    let expected: String = (1..=5000).map(|n| format!("{n},")).collect();
    assert_eq!(server.text("/my/other"), expected + "end");
}

#[test]
fn a_large_bucket_passes() {
    let code = "sub large { my $r = shift; $r->print('x' x 100_000_000); 0 }";
    let server = filtered(code, &other("large", "PerlOutputFilterHandler 'sub { -1 }'"));
    assert_eq!(server.get("/my/other").body.len(), 100_000_000);
}

#[test]
fn an_error_page_of_a_filtered_place_is_its_own_answer() {
    let code = "sub misses { $_[0]->print('lost'); 404 }";
    let inside = "PerlOutputFilterHandler 'sub { 0 }'\nErrorDocument 404 /page\n</Location>\n<Location /page>\nSetHandler modperl\n\
        PerlOptions +ParseHeaders\nPerlResponseHandler 'sub { $_[0]->print(qq(X-Page: yes\\n\\npage)); 0 }'";
    let response = filtered(code, &other("misses", inside)).get("/my/other");
    assert_eq!((response.status, response.text().as_str()), (404, "page"));
    assert_eq!(response.header("X-Page"), Some("yes".to_owned()));
}

#[test]
fn every_request_flushes_as_start_up_code_wanted() {
    let code = "$| = 1;\nsub counts { my $r = shift; $r->print('a'); $r->print('b'); 0 }\n\
        sub calls { my $f = shift; my $text = ''; while ($f->read(my $t, 99)) { $text .= $t } $f->print(\"<$text>\"); 0 }";
    let server = filtered(code, &other("counts", "PerlOutputFilterHandler My::calls"));
    for _ in 0..3 {
        assert_eq!(server.text("/my/other"), "<a><b><>");
    }
}
