//! Objects in responses of PSGI applications.

use super::OBJECT;
use crate::support::{Server, Site};

#[track_caller]
fn serve(app: &str) -> Server {
    Site::new().file("app.psgi", &format!("{OBJECT}package main; {app}")).run_with_one_worker(["app.psgi"])
}

#[test]
fn an_object_in_a_body_is_converted_once() {
    let server = serve("my $n = 0; sub { [200, [], [Text->of(sub { ++$n . ' time' . \"\\x{e9}\" })]] }");
    assert_eq!(server.get("/").body, b"1 time\xe9");
}

#[test]
fn a_body_may_shrink_and_grow_while_it_is_read() {
    let server = serve(
        "sub { my @body; @body = ('a', Text->of(sub { @body = ('x') x 3; 'b' }), ('never') x 1000); [200, [], \\@body] }",
    );
    assert_eq!(server.text("/"), "abx");
    let server =
        serve("sub { my @body; @body = ('a', Text->of(sub { push @body, ('y') x 2000; 'b' })); [200, [], \\@body] }");
    assert_eq!(server.text("/"), format!("ab{}", "y".repeat(2000)));
}

#[test]
fn a_response_may_be_taken_apart_while_it_is_sent() {
    let server = serve("sub { my $res; $res = [Text->of(sub { @$res = (); 203 }), ['X-A', 'a'], ['body']]; $res }");
    let response = server.get("/").is(203);
    assert_eq!((response.header("x-a").as_deref(), response.text().as_str()), (Some("a"), "body"));
}

#[test]
fn a_header_name_survives_changes_by_its_values_stringification() {
    let server = serve(
        "sub { my @h; @h = ('X-Long-Name' . 'x' x 200, Text->of(sub { my @gone = splice @h, 0; $gone[0] = 'y' x 100000; undef @gone; 'value' })); \
         [200, \\@h, ['ok']] }",
    );
    let response = server.get("/").is(200);
    assert_eq!(response.header(&format!("x-long-name{}", "x".repeat(200))).as_deref(), Some("value"));
}

#[test]
fn headers_and_bodies_may_be_tied() {
    let server = serve(
        "package Counted { require Tie::Array; our @ISA = 'Tie::StdArray'; sub FETCH { my ($s, $i) = @_; $main::n{$i}++; $s->[$i] } }\n\
         package main; our %n; sub { %n = (); tie my @h, 'Counted'; @h = ('X-Tied', 'yes'); tie my @b, 'Counted'; @b = ('a', 'b'); \
         [200, \\@h, \\@b] }",
    );
    let response = server.get("/").is(200);
    assert_eq!((response.header("x-tied").as_deref(), response.text().as_str()), (Some("yes"), "ab"));
}

#[test]
fn an_object_that_dies_or_exits_in_a_body_is_the_requests_end_only() {
    let server = serve(
        "sub { my $q = $_[0]{QUERY_STRING}; [200, [], [$$, $q ? Text->of(sub { $q eq 'die' ? die 'no' : exit }) : ()]] }",
    );
    let pid = server.text("/");
    for way in ["die", "exit"] {
        server.get(&format!("/?{way}"));
        assert_eq!(server.text("/"), pid, "{way}");
    }
}

#[test]
fn an_object_for_the_time_after_the_response_may_die() {
    let server = serve(
        "package Never { use overload bool => sub { die 'no truth' } } package Tie { require Tie::Hash; our @ISA = 'Tie::StdHash'; sub FETCH { die 'tied' } }\n\
         package main; sub { my $e = shift; my $q = $e->{QUERY_STRING}; $e->{'psgix.harakiri.commit'} = bless [], 'Never' if $q eq 'never'; \
         tie %$e, 'Tie' if $q eq 'tie'; $e->{'psgix.harakiri.commit'} = Text->of(sub { exit }) if $q eq 'exit'; [200, [], [$$]] }",
    );
    let pid = server.text("/");
    for way in ["never", "tie", "exit"] {
        assert_eq!(server.text(&format!("/?{way}")), pid, "{way}");
        assert_eq!(server.text("/"), pid, "after {way}");
    }
}
