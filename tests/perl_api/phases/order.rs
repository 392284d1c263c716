//! Order of the phases, for each kind of request.

use super::{hello, serve, site, with_base};
use crate::support::until;

const LOGGING: &str = "my @seen;
sub see { my $r = shift; push @seen, $r->current_callback; DECLINED }
sub ok { my $r = shift; push @seen, $r->current_callback; OK }
sub answer { my $r = shift; push @seen, $r->current_callback; $r->send_http_header('text/plain'); $r->print('x'); OK }
sub finish { my $r = shift; push @seen, $r->current_callback; open my $f, '>>', '@DIR@/seen'; print $f join(' ', @seen), \"\\n\"; @seen = (); OK }";

#[test]
fn all_phases_run_in_httpds_order() {
    let server = serve(
        LOGGING,
        "PerlPostReadRequestHandler My::see\nPerlInitHandler My::see\nPerlTransHandler My::see\n<Location /all>\nSetHandler perl-script\n\
         PerlHandler My::answer\nPerlInitHandler My::see\nPerlHeaderParserHandler My::see\nPerlAccessHandler My::see\n\
         PerlAuthenHandler My::ok\nPerlAuthzHandler My::ok\nPerlTypeHandler My::see\nPerlFixupHandler My::see\n\
         AuthType Basic\nAuthName x\nRequire valid-user\n\
         PerlLogHandler My::see\nPerlCleanupHandler My::finish\n</Location>",
    );
    assert_eq!(server.text("/all"), "x");
    let expected = "PerlInitHandler PerlPostReadRequestHandler PerlTransHandler PerlInitHandler PerlHeaderParserHandler \
                    PerlAccessHandler PerlAuthenHandler PerlAuthzHandler PerlTypeHandler PerlFixupHandler PerlHandler \
                    PerlLogHandler PerlCleanupHandler\n";
    until("the cleanup handler has written", || server.site.has("seen"));
    until("all is written", || server.site.read("seen") == expected);
}

#[test]
fn a_static_file_gets_its_headers_from_a_fixup_handler() {
    let server = serve(
        "sub fix { my $r = shift; $r->header_out('X-Fixed' => 'yes'); $r->err_header_out('Set-Cookie' => 'a=b'); $r->no_cache(1); DECLINED }
         sub type { my $r = shift; $r->content_type('text/x-mine'); OK }",
        "<Location />\nPerlFixupHandler My::fix\n</Location>\n<Location /typed>\nPerlTypeHandler My::type\n</Location>",
    );
    server.site.write("htdocs/page.txt", "a file\n");
    server.site.write("htdocs/typed/page.txt", "another\n");
    let response = server.get("/page.txt").is(200);
    assert_eq!(response.text(), "a file\n");
    for (name, value) in
        [("x-fixed", "yes"), ("set-cookie", "a=b"), ("pragma", "no-cache"), ("content-type", "text/plain")]
    {
        assert_eq!(response.header(name).as_deref(), Some(value), "{name}");
    }
    assert!(response.header("last-modified").is_some(), "the front sends it as it sends files");
    assert_eq!(server.get("/typed/page.txt").is(200).header("content-type").as_deref(), Some("text/x-mine"));
    server.get("/none.txt").is(404);
}

#[test]
fn an_access_handler_guards_static_files() {
    let server = serve("sub no { FORBIDDEN }", "<Location /closed>\nPerlAccessHandler My::no\n</Location>");
    server.site.write("htdocs/closed/secret.txt", "secret");
    server.site.write("htdocs/open.txt", "open");
    server.get("/closed/secret.txt").is(403);
    assert_eq!(server.text("/open.txt"), "open");
}

#[test]
fn a_location_without_phases_runs_none() {
    let server = serve(
        "sub count { open my $f, '>>', '@DIR@/count'; print $f 'x'; DECLINED }
         sub plain { my $r = shift; $r->send_http_header('text/plain'); $r->print(@{ $r->get_handlers('PerlFixupHandler') } ? 'some' : 'none'); OK }",
        "<Location /fixed>\nPerlFixupHandler My::count\n</Location>\n<Location /plain>\nSetHandler perl-script\nPerlHandler My::plain\n</Location>",
    );
    assert_eq!(server.text("/plain"), "none");
    assert!(!server.site.has("count"));
    server.get("/fixed").is(404);
    assert_eq!(server.site.read("count"), "x");
}

#[test]
fn the_log_phase_sees_what_was_sent() {
    let server = serve(
        "sub log_it { my $r = shift; open my $f, '>', '@DIR@/logged'; print $f join(' ', $r->status, $r->bytes_sent, $r->request_time > 1e9 ? 1 : 0); OK }",
        &hello("PerlLogHandler My::log_it"),
    );
    assert_eq!(server.text("/hello"), "hello");
    until("the log handler has run", || server.site.read("logged") == "200 5 1");
}

#[test]
fn cleanups_run_in_order_after_the_log_phase() {
    let server = serve(
        "my @seen; sub note_it { push @seen, shift; OK }
         sub answer { my $r = shift; $r->register_cleanup(sub { note_it('first') }); $r->post_connection(sub { note_it('second') });
             $r->push_handlers(PerlCleanupHandler => sub { note_it('pushed') ; open my $f, '>', '@DIR@/seen'; print $f \"@seen\"; OK });
             $r->push_handlers(PerlLogHandler => sub { note_it('log'); OK }); hello($r) }
         sub clean { note_it('configured') }",
        "<Location /c>\nSetHandler perl-script\nPerlHandler My::answer\nPerlCleanupHandler My::clean\n</Location>",
    );
    assert_eq!(server.text("/c"), "hello");
    until("the last has run", || server.site.read("seen") == "log first second configured pushed");
}

#[test]
fn init_handlers_of_a_host_run_for_its_static_files() {
    let server = serve("sub mark { note($_[0], 'init') }", "PerlInitHandler My::mark");
    server.site.write("htdocs/a.txt", "a");
    assert_eq!(server.get("/a.txt").is(200).header("x-phase").as_deref(), Some("init"));
}

#[test]
fn a_worker_begins_and_ends_with_its_handlers() {
    let server = serve(
        "our $began; sub begin { $began = \"began $Apache::Server::Starting\"; OK }
         sub say { my $r = shift; $r->send_http_header('text/plain'); $r->print($began); OK }
         sub gone { open my $f, '>', '@DIR@/gone'; print $f 'gone'; OK }",
        "PerlChildInitHandler My::begin\nPerlChildExitHandler My::gone\n<Location /b>\nSetHandler perl-script\nPerlHandler My::say\n</Location>",
    );
    assert_eq!(server.text("/b"), "began 0");
    let folder = server.site.path("gone");
    server.reload().succeeded();
    until("the worker has left", || folder.exists());
}

#[test]
fn restart_handlers_run_at_a_reload_only() {
    let server = site("sub again { open my $f, '>>', '@DIR@/restarted'; print $f \"$Apache::Server::Starting$Apache::Server::ReStarting\"; OK }")
        .serve(&with_base(&(hello("") + "PerlRestartHandler My::again")));
    assert_eq!(server.text("/hello"), "hello");
    assert!(!server.site.has("restarted"));
    server.reload().succeeded();
    assert_eq!(server.text("/hello"), "hello");
    assert_eq!(server.site.read("restarted"), "11");
}
