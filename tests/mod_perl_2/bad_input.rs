//! Hostile and clumsy programs that use mod_perl 2's objects: each gets an exception or a visibly truncated response,
//! and its process survives.

use std::time::Duration;

use super::{conf, serve, site};
use crate::support::{Request, Server, Site, peak_memory, until};

/// One worker, with a place for each sub of bad_input/Sweep.pm that is requested by its name.
fn sweep() -> Server {
    let handlers = ["pid", "names", "keep", "reuse", "live", "harmed", "in_cleanup", "in_child", "at_the_end"];
    let places = handlers.map(|name| {
        let inside = format!("PerlResponseHandler Sweep::{name}\nPerlOutputFilterHandler Sweep::keeps_filter");
        format!("<Location /{name}>\nSetHandler modperl\n{inside}\n</Location>\n")
    });
    let head = "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule Sweep\n";
    let site = Site::new().file("lib/Sweep.pm", include_str!("bad_input/Sweep.pm"));
    site.serve(&format!("{head}{}", places.concat()))
}

/// A POST of a form with a file, so that objects of all classes exist.
fn ask(server: &Server, target: &str) -> (u16, String) {
    let body = "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\ndata\r\n\
        --X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--X--\r\n";
    let request = Request::new("POST", target).header("Content-Type", "multipart/form-data; boundary=X").body(body);
    let response = server.send(request);
    (response.status, response.text())
}

#[track_caller]
fn outlives(server: &Server, target: &str) {
    let before = server.text("/pid");
    let (status, text) = ask(server, target);
    assert!(status != 502 && status != 504, "{target}: {status} {text}");
    assert_eq!(server.text("/pid"), before, "{target}: {text}");
}

#[test]
fn every_method_of_every_object_outlives_arguments_of_all_kinds() {
    let server = sweep();
    ask(&server, "/pid");
    let (_, names) = ask(&server, "/names");
    assert!(names.split(' ').count() >= 35, "{names}");
    for name in names.split(' ') {
        outlives(&server, &format!("/live?{name}"));
        server.logged(&format!("has tried {name}"));
    }
}

#[test]
fn code_in_arguments_may_end_what_the_method_works_on() {
    let server = sweep();
    for name in "address alloc brigade bucket finfo lock loose mutex pool subnet table uri".split(' ') {
        outlives(&server, &format!("/harmed?{name}"));
        server.logged(&format!("has tried {name}"));
    }
}

#[test]
fn objects_of_a_request_are_used_in_the_next_one() {
    let server = sweep();
    let (_, process) = ask(&server, "/keep");
    let (_, response) = ask(&server, "/reuse");
    let (same, calls) = response.split_once(' ').expect("two words");
    assert_eq!(same, process);
    assert!(calls.parse::<usize>().expect("a number") > 10_000, "{calls}");
}

#[test]
fn objects_are_used_in_cleanups_in_a_child_and_when_perl_ends() {
    let server = sweep();
    outlives(&server, "/in_cleanup");
    server.logged("handler: ");
    server.logged("pool: ");
    let (_, response) = ask(&server, "/in_child");
    assert_eq!(response, format!("{} 0", server.text("/pid")));
    ask(&server, "/at_the_end");
    server.logged("END: ");
    assert!(!server.log().contains("killed signal="), "{}", server.log());
}

#[test]
fn rflush_to_a_client_that_has_gone_is_an_exception() {
    let code = "sub handler { my $r = shift; while (1) { $r->print('x' x 10_000); $r->rflush } }";
    let server = serve(code, "");
    let mut connection = server.connect();
    connection.raw("GET /my HTTP/1.1\r\nHost: a\r\n\r\n");
    connection.head();
    drop(connection);
    let line = server.logged("Apache2::RequestIO::rflush: (103) Software caused connection abort at ");
    assert!(line.contains("My.pm line "), "{line}");
}

#[test]
fn a_client_that_has_only_ended_its_half_gets_all_of_its_answer() {
    let code = "sub handler { my $r = shift; for (1 .. 100) { $r->print('x' x 1000); $r->rflush } 0 }";
    let server = serve(code, "");
    let mut connection = server.connect();
    connection.raw("GET /my HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    connection.finish_sending();
    assert_eq!(connection.response().body.len(), 100_000);
}

#[test]
fn a_bucket_s_scalar_has_its_destroy_when_the_bucket_is_gone() {
    let code = "use Apache2::Connection (); use APR::Brigade (); use APR::Bucket ();\n\
        our ($code, $bucket); package My::Scalar { sub DESTROY { $code->() } } package My;\n\
        sub handler { my $r = shift; my $ba = $r->connection->bucket_alloc; my $bb = APR::Brigade->new($r->pool, $ba);\n\
        for my $what (sub { $bucket->destroy }, sub { $bucket->setaside($r->pool) }, sub { $bucket->read(my $x) }, sub { $bb->cleanup; die \"clean\\n\" }) {\n\
        $code = sub { $r->print(eval { $what->(); 1 } ? 'alive ' : $@ =~ /^(invalid|clean)/) };\n\
        { my $o = bless \\(my $text = 'text'), 'My::Scalar'; $bucket = APR::Bucket->new($ba, $$o) } $bb->insert_tail($bucket); $bucket->destroy }\n\
        $bb->insert_tail(APR::Bucket->new($ba, '!')); $bb->flatten(my $left); $r->print($left); 0 }";
    assert_eq!(serve(code, "").text("/my"), "invalidinvalidinvalidclean!");
}

const BRIGADE: &str = "use Apache2::Connection (); use Apache2::Filter (); use APR::Brigade (); use APR::Bucket ();\n\
    sub brigade { my ($r, $own) = @_; my $bb = APR::Brigade->new($r->pool, $r->connection->bucket_alloc); my $data = 'x' x 1_048_576;\n\
    $bb->insert_tail(APR::Bucket->new($bb->bucket_alloc, $own ? \"$data\" : $data)) for 1 .. 1024; return $bb }\n";

#[test]
fn a_brigade_of_a_gigabyte_goes_out_without_being_held() {
    let code = format!(
        "{BRIGADE}sub handler {{ my $r = shift; $r->content_type('text/plain'); $r->output_filters->pass_brigade(brigade($r)); 0 }}"
    );
    let server = serve(&code, "");
    let (worker, _) = server.workers()[0];
    let mut connection = server.connect();
    connection.raw("GET /my HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    connection.head();
    let whole = connection.slowly(0, std::time::Duration::ZERO);
    assert!(whole >= 1 << 30, "{whole}");
    assert!(peak_memory(worker) < 300_000_000, "{}", peak_memory(worker));
}

#[test]
fn a_brigade_beyond_the_limit_of_memory_is_an_exception_or_costs_its_worker() {
    let code = format!(
        "{BRIGADE}sub handler {{ my $r = shift; $r->content_type('text/plain'); return $r->print('small') && 0 unless $r->args;\n\
        my $bb = brigade($r, $r->args eq 'own'); $r->print(eval {{ $bb->flatten(my $all); 1 }} ? 'flat' : $@); 0 }}"
    );
    let limit = "PerlSetEnv PERL_RLIMIT_AS 700\nPerlModule Apache2::Resource\nPerlChildInitHandler Apache2::Resource\n";
    let server = site(&code).serve(&format!("{limit}{}", conf("")));
    let body = server.text("/my?flat");
    assert!(body.starts_with("APR::Brigade::flatten: (12) Cannot allocate memory at "), "{body}");
    let before = server.workers();
    let status = server.get("/my?own").status;
    assert!(matches!(status, 500 | 502), "{status}");
    until("another worker answers", || server.workers() != before);
    assert_eq!(server.text("/my"), "small");
}

/// One worker, with a place for each handler of bad_input/Long.pm.
fn long_texts() -> Server {
    let place =
        |name| format!("<Location /{name}>\nSetHandler modperl\nPerlResponseHandler Long::{name}\n</Location>\n");
    let places = ["calls", "names", "pushed"].map(place).concat();
    let site = Site::new().file("lib/Long.pm", include_str!("bad_input/Long.pm"));
    site.serve(&format!("MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule Long\n{places}"))
}

#[test]
fn methods_cost_by_the_length_of_their_arguments() {
    let server = long_texts();
    let mut connection = server.connect();
    connection.patience(Duration::from_secs(120));
    let body = connection.ask(Request::get("/calls")).is(200).text();
    let (_, counts) = body.split_once("tried: ").expect("it came to its end");
    let (tried, slow) = counts.split_once('\n').unwrap_or((counts, ""));
    assert_eq!(slow, "");
    assert!(tried.parse::<usize>().expect("a number") > 1_000, "{tried}");
}

#[test]
fn a_text_that_is_too_long_for_a_name_is_an_error_at_once() {
    let server = long_texts();
    let too_long = "a text of 100000000 characters names no handler: expected at most 4096";
    let cleanup = "APR::Pool::cleanup_register: expected code or the name of a sub, got a text of 100000000 bytes";
    assert_eq!(
        server.text("/names"),
        format!(
            "r.add_output_filter: {too_long}\nr.add_input_filter: {too_long}\nhandlers.named: {too_long}\n\
             pool.cleanup: {cleanup}\npackage: nothing\n"
        )
    );
    let worker = server.workers()[0].0;
    assert_eq!(server.text("/pushed"), "pushed");
    server.logged(too_long);
    assert_eq!(server.workers()[0].0, worker);
}

#[test]
fn a_child_that_is_forked_behind_the_answer_is_no_worker() {
    let code = "sub My::Forks::DESTROY { my $kid = fork; exit if defined $kid && !$kid; }\n\
        sub handler { my $r = shift; my $how = $r->args;\n\
        my $fork = sub { my $kid = fork; if (defined $kid && !$kid) { die 'in a child' if $how eq 'dies'; exit if $how eq 'exits' } 1 };\n\
        if ($how eq 'object') { $r->pnotes(object => bless [], 'My::Forks') } elsif ($how) { $r->pool->cleanup_register($fork) }\n\
        $r->print(\"$how $$\"); 0 }";
    let server = super::serve(code, "RequestTimeout 5");
    let worker = server.text("/my?");
    for how in ["exits", "dies", "returns", "object"] {
        assert_eq!(server.text(&format!("/my?{how}")), format!("{how}{worker}"));
        assert_eq!(server.text("/my?"), worker, "behind {how}");
    }
    assert!(!server.log().contains("leaves"), "{}", server.log());
}
