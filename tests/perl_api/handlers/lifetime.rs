//! The lifetime of Perl state: per request or per worker.

use super::{printing, serve};
use crate::support::until;

#[test]
fn variables_of_the_module_persist_in_a_worker() {
    let server = serve(&format!("my $n = 0; {}", printing("++$n")));
    assert_eq!(server.text("/my") + &server.text("/my"), "12");
}

#[test]
fn notes_and_pnotes_are_gone_at_the_next_request() {
    let server = serve(&printing(
        "$r->notes('a') || 'none', $r->pnotes('b') || 'none', do { $r->notes(a => 1); $r->pnotes(b => 2); () }",
    ));
    assert_eq!(server.text("/my"), "none|none");
    assert_eq!(server.text("/my"), "none|none");
}

#[test]
fn pnotes_are_destroyed_when_the_request_ends() {
    let server = serve(&format!(
        "package Watched {{ sub DESTROY {{ open my $f, '>', '@DIR@/destroyed' }} }}\n{}",
        printing("do { $r->pnotes(w => bless [], 'Watched'); 'ok' }")
    ));
    assert_eq!(server.text("/my"), "ok");
    until("the note is destroyed", || server.site.has("destroyed"));
}

#[test]
fn a_stored_request_object_dies_after_its_request() {
    let server = serve(
        "our $kept; sub handler { my $r = shift; $r->send_http_header('text/plain');
            if ($kept) { my $said = eval { $kept->uri } || \"died: $@\"; $r->print($said) } else { $r->print('kept') } $kept = $r unless $kept; OK }",
    );
    assert_eq!(server.text("/my"), "kept");
    let body = server.text("/my/second");
    assert!(body.starts_with("died: ") && body.contains("request"), "{body}");
    assert!(!body.contains("/second"), "it must not read the next visitor's request: {body}");
    assert_eq!(server.text("/my/third").split(' ').next(), Some("died:"));
}

#[test]
fn a_table_that_was_kept_is_as_dead_as_its_request() {
    let server = serve(
        "our $kept; sub handler { my $r = shift; $r->send_http_header('text/plain');
            if ($kept) { my $said = eval { $kept->{'X-Test'} } || \"died: $@\"; $r->print($said) } else { $kept = $r->headers_in; $r->print('kept') } OK }",
    );
    assert_eq!(server.text("/my"), "kept");
    let value = server.send(crate::support::Request::get("/my").header("X-Test", "next visitor")).text();
    assert!(!value.contains("next visitor"), "{value}");
}

#[test]
fn registered_cleanups_run_after_the_client_has_its_answer() {
    let server = serve(
        "sub handler { my $r = shift; $r->send_http_header; $r->print('answered');
            $r->register_cleanup(sub { select undef, undef, undef, 0.01 until -e '@DIR@/go'; open my $f, '>>', '@DIR@/done'; print $f 'first ' });
            $r->register_cleanup(sub { open my $f, '>>', '@DIR@/done'; print $f ref $_[0] }); OK }",
    );
    assert_eq!(server.text("/my"), "answered");
    assert!(!server.site.has("done"));
    server.site.write("go", "");
    until("both have run", || {
        let done = server.site.read("done");
        done.contains("first") && done.contains("Apache")
    });
}

#[test]
fn a_cleanup_that_dies_is_logged_and_affects_no_other_request() {
    let server = serve(&printing("do { $r->register_cleanup(sub { die \"in cleanup\\n\" }); $$ }"));
    let pid = server.text("/my");
    server.logged("in cleanup");
    assert_eq!(server.text("/my"), pid);
}

#[test]
fn child_terminate_ends_the_worker_after_its_answer() {
    let server = serve(&printing("do { $r->child_terminate if $r->args; $$ }"));
    let pid = server.text("/my");
    assert_eq!(server.text("/my?last"), pid);
    assert_ne!(server.text("/my"), pid);
}

#[test]
fn a_database_connection_is_kept_by_its_worker() {
    let server = serve(&format!(
        "use DBI; my $dbh; my $opened = 0; sub db {{ $dbh ||= do {{ $opened++; DBI->connect('dbi:SQLite:dbname=@DIR@/my.db', '', '', {{ RaiseError => 1 }}) }} }}\n{}",
        printing(
            "do { db()->do('create table if not exists t (n)'); db()->do('insert into t values (1)'); db()->selectrow_array('select count(*) from t') }, $opened"
        )
    ));
    assert_eq!(server.text("/my"), "1|1");
    assert_eq!(server.text("/my"), "2|1");
}
