//! Handlers that Perl code pushes, sets and lists.

use super::{hello, serve, site, with_base};

#[test]
fn pushed_handlers_run_after_the_configured_ones() {
    let server = serve(
        "sub push_them { my $r = shift; $r->push_handlers(PerlFixupHandler => sub { note($_[0], 'pushed') });
             $r->push_handlers(PerlFixupHandler => ['My::named', sub { note($_[0], 'last') }]); DECLINED }
         sub named { note($_[0], 'named') } sub configured { note($_[0], 'configured') }",
        &hello("PerlAccessHandler My::push_them\nPerlFixupHandler My::configured"),
    );
    assert_eq!(phases(&server.get("/hello").is(200)), "configured pushed named last");
    assert_eq!(
        phases(&server.get("/hello").is(200)),
        "configured pushed named last",
        "nothing is left of the first request"
    );
}

#[test]
fn set_handlers_replaces_and_empties_the_list() {
    let server = serve(
        "sub set_them { my $r = shift; my %a = $r->args; my %lists = (undef => undef, empty => [], other => [\\&other], ok => [sub { OK }]);
             $r->set_handlers(PerlFixupHandler => $lists{ $a{list} }); DECLINED }
         sub other { note($_[0], 'other') } sub configured { note($_[0], 'configured') }",
        &hello("PerlAccessHandler My::set_them\nPerlFixupHandler My::configured"),
    );
    for (list, expected) in [("undef", ""), ("empty", ""), ("other", "other"), ("ok", "")] {
        assert_eq!(phases(&server.get(&format!("/hello?list={list}")).is(200)), expected, "{list}");
    }
}

#[test]
fn set_handlers_decides_who_answers() {
    let server = serve(
        "sub set_it { $_[0]->set_handlers(PerlHandler => [sub { my $r = shift; $r->send_http_header('text/plain'); $r->print('set'); OK }]); DECLINED }",
        &hello("PerlFixupHandler My::set_it"),
    );
    assert_eq!(server.text("/hello"), "set");
}

/// mod_perl.c runs the list with which the phase began. set_handlers changes only the result of get_handlers
/// (Apache.xs, set_handlers).
#[test]
fn set_handlers_in_its_phase_calls_no_handler_twice() {
    let server = serve(
        "sub twice { my $r = shift; $r->send_http_header('text/plain'); $r->print('once '); $r->set_handlers(PerlHandler => [\\&twice, 'My::late']);
             $r->print(scalar @{ $r->get_handlers('PerlHandler') }); OK }
         sub late { $_[0]->print(' late'); OK } sub next_one { $_[0]->print(' next'); OK }",
        "<Location /twice>\nSetHandler perl-script\nPerlHandler My::twice My::next_one\n</Location>",
    );
    assert_eq!(server.text("/twice"), "once 2 next");
    assert_eq!(server.text("/twice"), "once 2 next");
}

#[test]
fn set_handlers_with_undef_or_done_ends_the_phase_that_runs() {
    for nothing in ["undef", "Apache::Constants::DONE()"] {
        let server = serve(
            &format!(
                "sub ends {{ my $r = shift; $r->send_http_header('text/plain'); $r->push_handlers(PerlHandler => 'My::never');
                     $r->set_handlers(PerlHandler => {nothing}); $r->print(scalar @{{ $r->get_handlers('PerlHandler') }}); OK }}
                 sub never {{ $_[0]->print(' never'); OK }}"
            ),
            "<Location /ends>\nSetHandler perl-script\nPerlHandler My::ends My::never\n</Location>",
        );
        assert_eq!(server.text("/ends"), "0", "{nothing}");
    }
}

#[test]
fn get_handlers_returns_names_and_code() {
    let server = serve(
        "sub tell { my $r = shift; $r->push_handlers(PerlLogHandler => sub { OK }); $r->send_http_header('text/plain');
             my $list = sub { my $l = $r->get_handlers($_[0]); '[' . join(',', map { ref || $_ } @$l) . ']' };
             $r->print(join '|', map { $list->($_) } qw(PerlHandler PerlLogHandler PerlTypeHandler)); OK }",
        "<Location /tell>\nSetHandler perl-script\nPerlHandler My::tell\nPerlLogHandler My::hello My::note\n</Location>",
    );
    assert_eq!(server.text("/tell"), "[My::tell]|[My::hello,My::note,CODE]|[]");
}

#[test]
fn an_unknown_phase_is_the_callers_mistake() {
    let server = serve(
        "sub try_it { my $r = shift; eval { $r->push_handlers(PerlNoHandler => sub {}) }; note($r, $@ =~ /no phase PerlNoHandler at .*My.pm/ ? 'croaked' : \"no: $@\"); DECLINED }",
        &hello("PerlFixupHandler My::try_it"),
    );
    assert_eq!(phases(&server.get("/hello").is(200)), "croaked");
}

#[test]
fn handlers_of_a_phase_stop_at_the_first_other_status() {
    let server = serve(
        "sub one { note($_[0], 'one') } sub two { note($_[0], 'two'); DECLINED } sub three { note($_[0], 'three'); FORBIDDEN } sub four { note($_[0], 'four') }",
        &hello("PerlAccessHandler My::one My::two\nPerlAccessHandler My::three My::four"),
    );
    let response = server.get("/hello").is(403);
    assert_eq!(all(&response, "x-err"), "one two three");
}

#[test]
fn the_list_of_an_inner_section_takes_the_place_of_the_outer() {
    let server = serve(
        "sub outer { note($_[0], 'outer') } sub inner { note($_[0], 'inner') }",
        &(hello("PerlFixupHandler My::outer") + "<Location /hello/in>\nPerlFixupHandler My::inner\n</Location>"),
    );
    assert_eq!(phases(&server.get("/hello").is(200)), "outer");
    assert_eq!(phases(&server.get("/hello/in").is(200)), "inner");
}

#[test]
fn methods_are_handlers_of_every_phase() {
    let server = site(
        "sub method ($$) { my ($class, $r) = @_; note($r, \"$class method\") } sub arrow { my ($class, $r) = @_; note($r, \"$class arrow\") }",
    )
    .file("lib/Sub.pm", "package Sub; @Sub::ISA = 'My'; 1;")
    .serve(&with_base(&("PerlModule Sub\n".to_owned() + &hello("PerlFixupHandler My::method Sub->arrow"))));
    assert_eq!(phases(&server.get("/hello").is(200)), "My method Sub arrow");
}

#[test]
fn a_dispatch_handler_is_called_instead_with_the_handler() {
    let server = serve(
        "sub dispatch { my ($r, $handler) = @_; note($r, $r->current_callback . '=' . (ref $handler || $handler)); no strict 'refs'; ref $handler ? $handler->($r) : &$handler($r) }
         sub fix { my $r = shift; $r->push_handlers(PerlFixupHandler => sub { OK }); DECLINED }",
        &hello("PerlFixupHandler My::fix\nPerlDispatchHandler My::dispatch"),
    );
    let response = server.get("/hello").is(200);
    assert_eq!(phases(&response), "PerlFixupHandler=My::fix PerlFixupHandler=CODE PerlHandler=My::hello");
    assert_eq!(response.text(), "hello");
}

fn phases(response: &crate::support::Response) -> String {
    all(response, "x-phase")
}

fn all(response: &crate::support::Response, name: &str) -> String {
    let values = response.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    values.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
}
