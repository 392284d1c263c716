//! Subrequests: lookup, inspection and run.

use super::{serve, site, with_base};

const PLACES: &str = "<Location /main>\nSetHandler perl-script\nPerlHandler My::main\n</Location>\n\
    <Location /inner>\nSetHandler perl-script\nPerlHandler My::inner\n</Location>\n";

fn main_handler(body: &str) -> String {
    format!("sub main {{ my $r = shift; $r->send_http_header('text/plain'); {body}; OK }}")
}

#[test]
fn output_of_a_subrequest_becomes_a_part_of_the_response() {
    let server = serve(
        &(main_handler("$r->print('a('); my $s = $r->lookup_uri('/inner?x=1')->run; $r->print(\")b$s\")")
            + "sub inner { my $r = shift; $r->content_type('text/x-inner'); $r->header_out('X-Inner' => 1); $r->send_http_header;
                   $r->print(join ',', $r->uri, scalar $r->args, $r->is_main ? 'main' : 'sub', $r->main->uri, Apache->request->uri, $r->method); print '!'; OK }"),
        PLACES,
    );
    let response = server.get("/main").is(200);
    assert_eq!(response.text(), "a(/inner,x=1,sub,/main,/inner,GET!)b0");
    assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
    assert_eq!(response.header("x-inner"), None);
}

#[test]
fn a_file_can_be_a_part_of_the_answer() {
    let server = serve(
        &main_handler(
            "$r->print('['); $r->lookup_uri('/part.txt')->run; $r->print(']['); $r->lookup_file('@DIR@/files/other')->run; $r->print(']')",
        ),
        PLACES,
    );
    server.site.write("htdocs/part.txt", "part");
    server.site.write("files/other", "other");
    assert_eq!(server.text("/main"), "[part][other]");
}

#[test]
fn a_subrequest_reports_the_status_of_its_uri() {
    let server = serve(
        &(main_handler(
            "my @s = map { $r->lookup_uri($_) } qw(/part.txt /closed /inner/more relative); $r->print(join '|', map { join ',', $_->status, $_->uri, $_->filename =~ s{^@DIR@}{}r, $_->path_info } @s)",
        ) + "sub no { FORBIDDEN } sub inner { OK }"),
        &format!("{PLACES}<Location /closed>\nPerlAccessHandler My::no\n</Location>"),
    );
    server.site.write("htdocs/part.txt", "part");
    assert_eq!(
        server.text("/main"),
        "200,/part.txt,/htdocs/part.txt,|403,/closed,/htdocs/closed,|200,/inner/more,/htdocs/inner,/more|200,/relative,/htdocs/relative,"
    );
}

#[test]
fn a_subrequest_runs_its_phases() {
    let server = serve(
        &(main_handler("$r->lookup_uri('/inner')->run")
            + "sub fix { my $r = shift; $r->notes(fixed => $r->is_initial_req ? 'initial' : 'not initial'); $r->pnotes(deep => ['x']); DECLINED }
               sub inner { my $r = shift; $r->print(join '|', $r->notes('fixed'), $r->pnotes('deep')->[0], defined $r->main->pnotes('deep') ? 'leaked' : 'own'); OK }"),
        &format!("{PLACES}<Location /inner>\nPerlFixupHandler My::fix\n</Location>"),
    );
    assert_eq!(server.text("/main"), "not initial|x|own");
}

#[test]
fn a_subrequest_has_an_environment_of_its_own() {
    let server = serve(
        &(main_handler(
            "$r->subprocess_env(OUTER => 'o'); $r->lookup_uri('/inner?q')->run; $r->print(\"|$ENV{QUERY_STRING}|$ENV{SCRIPT_NAME}|\", $ENV{INNER} // '-')",
        ) + "sub inner { my $r = shift; $ENV{INNER} = 1; $r->print(\"$ENV{QUERY_STRING}|$ENV{SCRIPT_NAME}|$ENV{OUTER}\"); OK }"),
        PLACES,
    );
    assert_eq!(server.text("/main?main"), "q|/inner|o|main|/main|-");
}

#[test]
fn die_and_exit_in_a_subrequest_end_only_that() {
    let server = serve(
        &(main_handler(
            "my $died = $r->lookup_uri('/inner?die')->run; my $exited = $r->lookup_uri('/inner?exit')->run; $r->print(\"$died $exited alive\")",
        ) + "sub inner { my $r = shift; my $guard = bless []; die \"inner sorrow\\n\" if $r->args eq 'die'; eval { 1 }; Apache::exit(0) } sub DESTROY { $main::gone++ }"),
        PLACES,
    );
    for _ in 0..3 {
        assert_eq!(server.text("/main"), "500 0 alive");
    }
    server.logged("inner sorrow");
}

#[test]
fn a_registry_script_can_run_another() {
    let conf = "Alias /perl/ @DIR@/scripts/\n<Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nOptions +ExecCGI\nPerlSendHeader On\n</Location>";
    let server = site("")
        .script("scripts/outer.pl", "use Cwd; print \"Content-type: text/plain\\n\\nouter(\"; Apache->request->lookup_uri('inner.pl?x=y')->run; print ') ', getcwd() =~ m{/scripts$} ? 'here' : getcwd();\n")
        .script("scripts/inner.pl", "print \"Content-type: text/html\\nX-Inner: 1\\n\\ninner $ENV{QUERY_STRING}\"; exit;\n")
        .serve(&with_base(conf));
    for _ in 0..2 {
        let response = server.get("/perl/outer.pl").is(200);
        assert_eq!(response.text(), "outer(inner x=y) here");
        assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
        assert_eq!(response.header("x-inner"), None);
    }
}

#[test]
fn subrequests_that_never_end_are_stopped() {
    let server = serve(
        &(main_handler("$r->lookup_uri('/inner')->run; $r->print('|end')")
            + "sub inner { my $r = shift; $r->print('.'); my $s = $r->lookup_uri('/inner') or return OK; $s->run; OK }"),
        PLACES,
    );
    assert_eq!(server.text("/main"), "..........|end");
    server.logged("look for a loop");
}

#[test]
fn a_record_kept_from_an_earlier_request_is_over() {
    let server = serve(
        &(main_handler(
            "if ($My::kept) { eval { $My::kept->uri }; $r->print($@ =~ /is over/ ? 'over' : 'alive') } else { $My::kept = $r->lookup_uri('/inner'); $r->print('kept') }",
        ) + "our $kept; sub inner { OK }"),
        PLACES,
    );
    assert_eq!(server.text("/main") + &server.text("/main"), "keptover");
}

#[test]
fn a_file_that_is_looked_up_has_the_type_of_its_name() {
    let server = serve(
        &(main_handler(
            "my @t = map { $r->lookup_uri($_)->content_type // '-' } qw(/look.css /own.mine /typed.css /none); \
             push @t, $r->lookup_file('@DIR@/files/plain.txt')->content_type; $r->print(join ' ', @t)",
        ) + "sub typed { my $r = shift; $r->content_type('text/x-typed'); OK } sub inner { OK }"),
        &format!("{PLACES}AddType text/x-mine .mine\n<Location /typed.css>\nPerlTypeHandler My::typed\n</Location>"),
    );
    server.site.write("files/plain.txt", "plain");
    assert_eq!(server.text("/main"), "text/css text/x-mine text/x-typed - text/plain");
}

#[test]
fn a_subrequest_may_be_the_current_request_for_a_while() {
    let server = serve(
        &(main_handler(
            "my $sub = $r->lookup_uri('/inner'); my @seen = Apache->request($sub)->uri; push @seen, Apache->request->uri; \
             Apache->request($r); push @seen, Apache->request->uri; $r->print(\"@seen\")",
        ) + "sub inner { OK }"),
        PLACES,
    );
    assert_eq!(server.text("/main"), "/inner /inner /main");
}

#[test]
fn the_default_type_is_sent_but_not_returned_by_a_subrequest() {
    let server = serve(
        "sub main { my $r = shift; my $type = $r->lookup_uri('/none')->content_type // '-'; $r->send_http_header; $r->print($type); OK }
         sub inner { $_[0]->internal_redirect('/none'); OK }",
        &format!("{PLACES}DefaultType text/x-default\n"),
    );
    server.site.write("htdocs/none", "plain");
    for (path, text) in [("/main", "-"), ("/inner", "plain")] {
        let response = server.get(path).is(200);
        assert_eq!(response.text(), text);
        assert_eq!(response.header("content-type").as_deref(), Some("text/x-default"), "{path}");
    }
}
