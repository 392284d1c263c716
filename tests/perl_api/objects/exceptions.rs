//! Objects as exceptions, and objects that outlive the thing they belong to.

use super::OBJECT;
use crate::registry::serve_text as registry_text;
use crate::support::Site;

const URL: &str = "/perl/test.pl";

#[test]
fn an_exception_whose_text_dies_or_exits_is_a_500() {
    for code in ["die 'again'", "exit", "system 'true'; 'said'", "my $x = bless [$_[0][0]], 'Text'; die $x"] {
        let server =
            registry_text(&format!("{OBJECT}print $$; die Text->of(sub {{ {code} }}) if $ENV{{QUERY_STRING}};"));
        let pid = server.text(URL);
        assert_eq!(server.get(&format!("{URL}?1")).status, 500, "{code}");
        assert_eq!(server.text(URL), pid, "{code}");
    }
}

#[test]
fn an_exception_object_that_is_false_is_still_an_error() {
    let server = registry_text(
        "package False { use overload bool => sub { 0 }, '\"\"' => sub { 'false but there' }; } die bless [], 'False';",
    );
    assert_eq!(server.get(URL).status, 500);
    server.logged("false but there");
}

#[test]
fn the_destructor_of_an_exception_may_exit() {
    let server =
        registry_text("package Last { sub DESTROY { exit 4 } } print $$; die bless [], 'Last' if $ENV{QUERY_STRING};");
    let pid = server.text(URL);
    server.get(&format!("{URL}?1"));
    assert_eq!(server.text(URL), pid);
}

#[test]
fn an_exception_of_a_subrequest_ends_that_alone() {
    let server = Site::new()
        .file(
            "lib/Handlers.pm",
            &format!(
                "package Outer; sub handler {{ my $r = shift; $r->send_http_header('text/plain'); local $@ = 'kept';\n\
                   my $said = eval {{ $r->lookup_uri('/inner')->run }}; $r->print(\"$$ \", $said // 'died', \" $@\"); 0 }}\n\
                 package Inner; {OBJECT} package Last {{ sub DESTROY {{ exit 4 }} }}\n\
                 sub Inner::handler {{ $ENV{{LAST}} = bless [], 'Last'; die Text->of(sub {{ exit }}) }} 1;\n"
            ),
        )
        .serve(
            "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule Handlers\n\
             <Location /outer>\nSetHandler perl-script\nPerlHandler Outer\n</Location>\n\
             <Location /inner>\nSetHandler perl-script\nPerlHandler Inner\n</Location>\n",
        );
    let body = server.text("/outer");
    assert!(body.ends_with(" 500 "), "{body}");
    assert_eq!(server.text("/outer"), body);
}

#[test]
fn variables_of_perl_that_hold_objects_or_are_tied_are_put_back() {
    let server = registry_text(&format!(
        "{OBJECT} package Tie {{ sub TIESCALAR {{ bless [] }} sub FETCH {{ die 'asked' }} sub STORE {{ die 'told' }} }} package main;\n\
         if ($ENV{{QUERY_STRING}} eq 'object') {{ $; = $\" = Text->of(sub {{ die 'asked' }}) }}\n\
         elsif ($ENV{{QUERY_STRING}} eq 'tied') {{ tie $_, 'Tie' for $\", $; ; unshift @INC, 'x'; tie $INC[0], 'Tie' }}\n\
         my @list = (1, 2); print \"$$ @list\" unless $ENV{{QUERY_STRING}};"
    ));
    let body = server.text(URL);
    assert!(body.ends_with(" 1 2"), "{body}");
    for way in ["object", "tied"] {
        server.get(&format!("{URL}?{way}"));
        assert_eq!(server.text(URL), body, "{way}");
    }
}
