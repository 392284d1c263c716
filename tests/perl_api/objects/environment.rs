//! Objects and tied values in `%ENV` when a program is started.

use super::OBJECT;
use crate::registry::serve_text as registry_text;
use crate::support::Server;

const URL: &str = "/perl/test.pl";

#[track_caller]
fn serve(script: &str) -> Server {
    registry_text(&format!("{OBJECT}$| = 1; {script}"))
}

#[test]
fn an_object_whose_text_grows_is_converted_once() {
    let server = serve(
        "my $n = 0; $ENV{GROWS} = Text->of(sub { 'x' x (10 ** ++$n) }); print length(`printf %s \"\\$GROWS\"`), \" $n\";",
    );
    assert_eq!(server.text(URL), "10 1");
}

#[test]
fn an_object_may_change_the_table_during_its_conversion() {
    let server = serve(
        "$ENV{\"A$_\"} = 'a' x 100 for 1 .. 50;\n\
         $ENV{WILD} = Text->of(sub { delete $ENV{\"A$_\"} for 1 .. 50; $ENV{\"B$_\"} = 'b' x 1000 for 1 .. 500; 'wild' });\n\
         print `echo \\$WILD \\${#A1} \\${#A50}`; print join ' ', scalar(grep /^A/, keys %ENV), length $ENV{B500};",
    );
    assert_eq!(server.text(URL), "wild 100 100\n0 1000");
}

#[test]
fn an_object_may_throw_the_whole_environment_away() {
    for way in ["undef %ENV", "%ENV = ()", "undef *ENV", "*ENV = {}", "undef $ENV{GONE}", "delete $ENV{GONE}"] {
        let server = serve(&format!("$ENV{{GONE}} = Text->of(sub {{ {way}; 'said' }}); print `/bin/echo \\$GONE`;"));
        assert_eq!(server.text(URL), "said\n", "{way}");
        assert_eq!(server.text(URL), "said\n", "{way}: the next request");
    }
}

#[test]
fn an_object_that_dies_ends_the_statement_that_wanted_a_program() {
    let server = serve(
        "$ENV{DIES} = Text->of(sub { die \"no text\\n\" }); print eval { system('true'); 'ran' } || \"died: $@\"; \
         delete $ENV{DIES}; print `echo after`;",
    );
    assert_eq!(server.text(URL), "died: no text\nafter\n");
}

#[test]
fn an_object_that_exits_ends_its_request_only() {
    let server = serve("print $$; $ENV{EXITS} = Text->of(sub { exit }) if $ENV{QUERY_STRING}; system 'true';");
    let pid = server.text(URL);
    assert_eq!(server.text("/perl/test.pl?1"), pid);
    assert_eq!(server.text(URL), pid);
}

#[test]
fn an_object_that_forks_makes_a_child_and_no_second_answer() {
    let server = serve(
        "$ENV{FORKS} = Text->of(sub { my $kid = fork // die; if (!$kid) { CORE::exit(0) } waitpid $kid, 0; 'forked' });\n\
         print `echo \\$FORKS`;",
    );
    assert_eq!(server.text(URL), "forked\n");
    assert_eq!(server.text(URL), "forked\n");
}

#[test]
fn an_object_in_env_that_starts_a_program_is_not_converted_for_it() {
    let server = serve("$ENV{DEEP} = Text->of(sub { 'in:' . `echo \"[\\$DEEP]\"` }); print `echo \"\\$DEEP\"`;");
    assert_eq!(server.text(URL), "in:[]\n\n");
}

#[test]
fn a_tied_value_and_a_tied_environment_do_no_harm() {
    let server = serve(
        "package Tie { require Tie::Hash; our @ISA = 'Tie::StdHash'; sub TIESCALAR { my $n = 0; bless \\$n } \n\
            sub FETCH { ref $_[0] eq 'Tie' && Scalar::Util::reftype($_[0]) eq 'SCALAR' ? 'tied' x (100 ** ++${$_[0]}) : die 'asked' } }\n\
         use Scalar::Util; if ($ENV{QUERY_STRING}) { tie %ENV, 'Tie'; print system('true') }\n\
         else { tie $ENV{TIED}, 'Tie'; print length `printf %s \"\\$TIED\"` }",
    );
    assert_eq!(server.text(URL), "400");
    assert_eq!(server.text("/perl/test.pl?1"), "0");
    assert_eq!(server.text(URL), "400");
}

#[test]
fn the_position_of_each_survives_programs() {
    let server = serve(
        "%ENV = (%ENV, map { ($_ => 1) } 'a' .. 'f'); my $n = 0; while (my ($k) = each %ENV) { system 'true'; last if ++$n > 200 } print $n == keys %ENV ? 'each once' : $n;",
    );
    assert_eq!(server.text(URL), "each once");
}

#[test]
fn a_local_environment_is_what_a_program_gets() {
    let server = serve("local %ENV = (PATH => $ENV{PATH}, ONLY => 'this'); print `echo \\$ONLY \\$REQUEST_METHOD`;");
    assert_eq!(server.text(URL), "this\n");
}

#[test]
fn characters_reach_programs_as_bytes() {
    let server = serve(
        "my $e = \"\\x{e9}\"; utf8::upgrade($e); @ENV{qw(LATIN WIDE NONE)} = ($e, \"\\x{20ac}\", undef);\n\
         print `printf %s \"\\$LATIN\" \"\\$WIDE\" \"\\$NONE\" | od -An -tx1`;",
    );
    assert_eq!(server.text(URL).trim(), "e9 e2 82 ac");
}

#[test]
fn destructors_of_what_the_environment_held_may_do_as_they_like() {
    let server = serve(
        "package Last { sub DESTROY { $_[0][0]->() } } print $$;\n\
         $ENV{LAST} = bless [$ENV{QUERY_STRING} eq 'die' ? sub { die 'late' } : sub { exit 3 }], 'Last' if $ENV{QUERY_STRING};",
    );
    let pid = server.text(URL);
    for way in ["die", "exit"] {
        assert_eq!(server.text(&format!("{URL}?{way}")), pid, "{way}");
        assert_eq!(server.text(URL), pid, "after {way}");
    }
}

#[test]
fn an_environment_that_was_kept_is_no_danger_to_later_requests() {
    let server = serve(
        "our $kept; print $kept ? join(' ', scalar keys %$kept > 0, $kept->{QUERY_STRING} // '-') : 'first'; \
         if (!$kept) { $kept = \\%ENV; my $x = keys %ENV } ; eval q{END { my $x = $kept->{PATH}; $kept->{PATH} = 1 }}",
    );
    assert_eq!(server.text("/perl/test.pl?one"), "first");
    assert_eq!(server.text("/perl/test.pl?two"), "1 one");
}
