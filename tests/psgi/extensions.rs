//! `psgix.*`.

use super::{serve, serve_with_one_worker};
use crate::support::until;

#[test]
fn cleanup_handlers_run_after_the_client_has_its_answer() {
    let server = serve_with_one_worker(
        r#"sub { my $e = shift;
            push @{ $e->{'psgix.cleanup.handlers'} }, sub {
                select undef, undef, undef, 0.01 until -e '@DIR@/answered';
                open my $f, '>', '@DIR@/cleaned'; print $f $_[0]{PATH_INFO};
            };
            [200, [], ['ok']] }"#,
    );
    assert_eq!(server.text("/one"), "ok");
    assert!(!server.site.has("cleaned"));
    server.site.write("answered", "");
    until("the handler has run", || server.site.read("cleaned") == "/one");
}

#[test]
fn a_cleanup_handler_that_dies_does_not_stop_the_next_one() {
    let server = serve(
        r#"sub { push @{ $_[0]{'psgix.cleanup.handlers'} }, sub { die "in cleanup\n" }, sub { open my $f, '>', '@DIR@/second' };
                 [200, [], []] }"#,
    );
    server.get("/").is(200);
    server.logged("in cleanup");
    until("the second has run", || server.site.has("second"));
}

#[test]
fn harakiri_ends_the_worker_after_its_answer_and_another_takes_its_place() {
    let server = serve_with_one_worker(
        "sub { my $e = shift; $e->{'psgix.harakiri.commit'} = 1 if $e->{PATH_INFO} eq '/last'; [200, [], [$$]] }",
    );
    let first = server.text("/");
    assert_eq!(server.text("/last"), first);
    assert_ne!(server.text("/"), first);
}

#[test]
fn informational_responses_precede_the_final_one() {
    let server = serve(
        "sub { $_[0]{'psgix.informational'}->(103, ['Link', '</style.css>; rel=preload']); [200, [], ['final']] }",
    );
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let early = connection.head();
    assert_eq!((early.status, early.header("link").as_deref()), (103, Some("</style.css>; rel=preload")));
    assert_eq!(connection.response().text(), "final");
}

#[test]
fn the_raw_socket_is_not_offered() {
    let server = serve("sub { [200, [], [exists $_[0]{'psgix.io'} ? 'offered' : 'absent']] }");
    assert_eq!(server.text("/"), "absent");
}
