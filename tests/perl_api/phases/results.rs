//! The effect of a handler's return value in each phase.

use super::{hello, serve};

const SAYING: &str = "sub say { my $r = shift; my %a = $r->args; note($r, $r->current_callback); $a{ $r->current_callback } // DECLINED }";
const ALL: &str =
    "PerlHeaderParserHandler My::say\nPerlAccessHandler My::say\nPerlTypeHandler My::say\nPerlFixupHandler My::say";

#[test]
fn ok_and_declined_go_on_and_a_status_ends_the_request() {
    let server = serve(SAYING, &hello(ALL));
    let cases = [
        ("", 200, 4),
        ("PerlHeaderParserHandler=0&PerlAccessHandler=0&PerlTypeHandler=0&PerlFixupHandler=0", 200, 4),
        ("PerlHeaderParserHandler=410", 410, 1),
        ("PerlAccessHandler=403", 403, 2),
        ("PerlTypeHandler=415", 415, 3),
        ("PerlFixupHandler=500", 500, 4),
    ];
    for (query, status, phases) in cases {
        let response = server.get(&format!("/hello?{query}")).is(status);
        let seen = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-err")).count();
        assert_eq!(seen, phases, "{query}");
    }
}

#[test]
fn done_ends_the_request_with_its_output_so_far() {
    let server = serve(
        "sub done { my $r = shift; $r->send_http_header('text/plain'); $r->print('done'); DONE }",
        &hello("PerlAccessHandler My::done"),
    );
    assert_eq!(server.text("/hello"), "done");
}

#[test]
fn a_handler_that_dies_is_a_500_and_one_that_exits_is_ok() {
    let server = serve(
        "sub dies { my $r = shift; die \"sorry\\n\" if $r->args eq 'die'; Apache::exit() if $r->args eq 'exit'; DECLINED }",
        &hello("PerlFixupHandler My::dies"),
    );
    server.get("/hello?die").is(500);
    server.logged("sorry");
    assert_eq!(server.text("/hello?exit"), "hello");
    assert_eq!(server.text("/hello?"), "hello");
}

#[test]
fn die_exit_and_a_dying_destroy_end_no_worker_in_any_phase() {
    let code = "use warnings; package Frail; sub DESTROY { die \"in cleanup of an object\\n\" } package My;\n\
        sub frail { my $r = shift; my $way = $r->args // ''; die \"sorry\\n\" if $way eq 'die'; Apache::exit() if $way eq 'exit';\n\
        if ($way eq 'destroy') { my $frail = bless {}, 'Frail' } DECLINED }";
    for phase in ["Init", "HeaderParser", "Access", "Type", "Fixup"] {
        let server = serve(code, &hello(&format!("Perl{phase}Handler My::frail")));
        server.get("/hello?die").is(500);
        server.logged("sorry");
        for way in ["exit", "destroy", ""] {
            assert_eq!(server.text(&format!("/hello?{way}")), "hello", "{phase}: {way}");
        }
        server.logged("in cleanup of an object");
    }
}

#[test]
fn any_phase_may_redirect() {
    let server = serve(
        "sub go { my $r = shift; $r->header_out(Location => 'http://example.org/'); REDIRECT }",
        &hello("PerlAccessHandler My::go"),
    );
    assert_eq!(server.get("/hello").is(302).header("location").as_deref(), Some("http://example.org/"));
}

#[test]
fn the_words_of_status_line_reach_the_client() {
    let server = serve(
        "sub fine { my $r = shift; $r->status_line('299 Quite Fine'); $r->send_http_header('text/plain'); $r->print('x'); OK }",
        "<Location /f>\nSetHandler perl-script\nPerlHandler My::fine\n</Location>",
    );
    let mut connection = server.connect();
    connection.raw("GET /f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let answer = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(answer.starts_with("HTTP/1.1 299 Quite Fine\r\n"), "{answer}");
}

#[test]
fn an_earlier_phase_selects_the_response_handler() {
    let server = serve(
        "sub choose { my $r = shift; $r->handler($r->args) if $r->args; $r->push_handlers(PerlHandler => \\&hello); DECLINED }
         sub tell { my $r = shift; $r->send_http_header('text/plain'); $r->print($r->handler); OK }",
        "<Location /choose>\nPerlFixupHandler My::choose\n</Location>\n<Location /tell>\nSetHandler perl-script\nPerlHandler My::tell\n</Location>",
    );
    server.site.write("htdocs/choose", "a file");
    assert_eq!(server.text("/choose?perl-script"), "hello");
    assert_eq!(server.text("/choose"), "a file");
    assert_eq!(server.text("/tell"), "perl-script");
}
