//! Handlers that are methods. Sources: mod_perl_method_handlers.pod, and perl_handler_ismethod in mod_perl.c.

use super::{hello, site, with_base};
use crate::support::Server;

/// The notes of the handlers in the fixup phase of /hello.
#[track_caller]
fn noted(code: &str, further: (&str, &str), handlers: &str) -> String {
    let server =
        site(code).file(further.0, further.1).serve(&with_base(&hello(&format!("PerlFixupHandler {handlers}"))));
    noted_by(&server)
}

#[track_caller]
fn noted_by(server: &Server) -> String {
    let response = server.get("/hello").is(200);
    let values = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-phase"));
    values.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(",")
}

const NONE: (&str, &str) = ("lib/None.pm", "1;");

#[test]
fn the_attribute_method_makes_a_handler_a_method_as_its_prototype_does() {
    let code = "sub by_attribute : method { my ($class, $r) = @_; note($r, \"$class attribute\") }
        sub by_prototype ($$) { my ($class, $r) = @_; note($r, \"$class prototype\") }
        sub function { note($_[0], 'function ' . @_) }";
    let notes = noted(code, NONE, "My::by_attribute My::by_prototype My::function");
    assert_eq!(notes, "My attribute,My prototype,function 1");
}

#[test]
fn a_class_that_inherits_its_handler_method_is_a_handler() {
    let heir = "package Heir; @Heir::ISA = 'Base'; package Base; sub handler : method { my ($class, $r) = @_; My::note($r, \"$class\") } 1;";
    assert_eq!(noted("", ("lib/Heir.pm", heir), "Heir"), "Heir");
    assert_eq!(noted("", ("lib/Heir.pm", heir), "Heir->handler"), "Heir");
}

#[test]
fn a_method_of_the_object_in_a_global_variable_is_a_handler() {
    let code = "our $Object = bless { name => 'Ada' }, 'My'; sub greet { my ($self, $r) = @_; note($r, \"greets $self->{name}\") }";
    assert_eq!(noted(code, NONE, "$My::Object->greet"), "greets Ada");
    let nobody = site("").serve(&with_base(&hello("PerlFixupHandler $My::Nobody->greet")));
    nobody.get("/hello").is(500);
    nobody.logged("$My::Nobody->greet: the variable holds no object");
}

#[test]
fn a_minus_before_a_name_leaves_its_module_for_the_first_request() {
    let late = "package Late; our $at_start = $Apache::Server::Starting; sub handler { My::note($_[0], \"late $at_start\") } 1;";
    assert_eq!(noted("", ("lib/Late.pm", late), "-Late"), "late 0");
    assert_eq!(noted("", ("lib/Late.pm", late), "+Late"), "late 1");
}

#[test]
fn cgi_application_dispatch_is_served() {
    let app = "package Shop::Front; use base 'CGI::Application';
        sub setup { my $self = shift; $self->run_modes(start => 'start', list => 'list') }
        sub start { 'the front' } sub list { 'the list' } 1;";
    let server = site("").file("lib/Shop/Front.pm", app).serve(&with_base(
        "<Location /app>\nSetHandler perl-script\nPerlHandler CGI::Application::Dispatch\n\
         PerlSetVar CGIAPP_DISPATCH_PREFIX Shop\n</Location>",
    ));
    assert_eq!(server.text("/app/front"), "the front");
    assert_eq!(server.text("/app/front/list"), "the list");
}
