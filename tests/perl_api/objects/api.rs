//! Objects as arguments of `$r` and of its tables.

use super::OBJECT;
use crate::support::{Request, Server, Site};

/// A handler that prints what `code` returns, joined by `|`.
#[track_caller]
fn serve(code: &str) -> Server {
    Site::new()
        .file(
            "lib/My.pm",
            &format!(
                "package My; use Apache::Request (); use Apache::Table ();\n{OBJECT}\
                 sub My::handler {{ my $r = shift; my @said = eval {{ {code} }}; push @said, \"died: $@\" if $@;\n\
                 $r->send_http_header('text/plain'); $r->print(join '|', map {{ $_ // 'undef' }} @said); 0 }} 1;\n"
            ),
        )
        .serve(
            "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule My\n<Location /my>\nSetHandler perl-script\nPerlHandler My\n</Location>",
        )
}

#[test]
fn a_key_survives_changes_by_its_values_stringification() {
    let server = serve(
        "my $name = 'x' x 5000; $r->notes($name, Text->of(sub { $name = 'y' x 200000; undef $name; 'value' })); $r->notes('x' x 5000)",
    );
    assert_eq!(server.text("/my"), "value");
    let server = serve(
        "my $name = 'X-' . 'x' x 100; $r->cgi_header_out($name, Text->of(sub { undef $name; 'value' })); length $r->err_header_out('X-' . 'x' x 100)",
    );
    assert_eq!(server.text("/my"), "5");
}

#[test]
fn a_names_stringification_may_clear_the_table_that_is_searched() {
    let server = serve(
        "my $t = $r->notes; $t->add(\"n$_\", 'v' x 100) for 1 .. 100; my $n = 0;\n\
         $t->do(sub { $n++; 1 }, Text->of(sub { $t->clear; 'n5' })); $n, scalar(() = $t->get(Text->of(sub { $t->clear; 'n1' })))",
    );
    assert_eq!(server.text("/my"), "0|0");
}

#[test]
fn an_arguments_stringification_may_destroy_the_table_object() {
    let server = serve(
        "my $t = Apache::Table->new($r); my $o = tied %$t; $t->set(a => 1);\n\
         $o->set('b', Text->of(sub { untie %$t; undef $$o; undef $t; 2 })); eval { $o->get('b') }; $@ ? 'gone' : 'there'",
    );
    assert_eq!(server.text("/my"), "gone");
}

#[test]
fn a_list_of_values_may_change_while_it_is_stored() {
    let server = serve(
        "my $t = $r->notes; my @v; @v = ('a', Text->of(sub { @v = (); 'b' }), ('c') x 100); $t->set(many => \\@v); join ',', $t->get('many')",
    );
    assert_eq!(server.text("/my"), "a,b");
}

#[test]
fn each_method_converts_an_object_once() {
    let server = serve(
        "my $n = 0; my $o = Text->of(sub { $n++; \"v$n\" }); $r->notes(a => $o); $r->header_out('X-A' => $o); \
         $r->err_header_out($o, 'b'); $r->content_type($o); $r->print($o); $n",
    );
    assert!(server.text("/my").ends_with('5'));
}

#[test]
fn a_request_object_that_contains_itself_is_an_error() {
    for code in [
        "my $h = bless {}, 'Apache'; $h->{r} = $h; $h->uri",
        "my $h = bless {}, 'Apache::Request'; $h->{_r} = $h; $h->param('a')",
    ] {
        let server = serve(code);
        let text = server.text("/my");
        assert!(text.starts_with("died: method `") && text.contains("object with no `r' key!"), "{code}: {text}");
    }
}

#[test]
fn read_fills_a_buffer_as_perls_own_does() {
    let server = serve(
        "my $b = 'abc'; $r->read($b, 2, -1); my $n = length $b; my $m = eval { $r->read($b, 2, -100); 1 } ? 'read' : $@; \
         my $w = Text->of(sub { 'obj' }); $r->read($w, 3); my $tail = '12345678'; $r->read($tail, 1, 2); $b, $n, $m =~ /Offset outside/, $w, $tail",
    );
    let body = server.send(Request::post("/my", "0123456789")).is(200).text();
    assert_eq!(body, "ab01|4|1|234|125");
}
