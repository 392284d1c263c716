# Cameleer: resolves names of handlers, loads modules and files, sets variables; run by packages.t

use v5.36;
use B ();

our $object = bless {}, 'My::Resolved';
sub My::Resolved::handler { return 'of the package' }
sub My::Resolved::other   { return 'other' }
{ no feature 'signatures'; sub My::Methods::handler ($$) { return "of $_[0]" } }

sub My::Resolved::by ($name) {
    my ( $code, $class ) = eval { Cameleer::resolve_handler($name) } or return $@;
    return $code->( defined $class ? $class : (), 'r' );
}

return {
    a_package_means_its_handler                  => [ sub ($r) { My::Resolved::by('My::Resolved') }, 'of the package' ],
    a_sub_is_found_by_its_name                   => [ sub ($r) { My::Resolved::by('My::Resolved::other') }, 'other' ],
    a_class_method_is_called                     => [ sub ($r) { My::Resolved::by('My::Resolved->other') }, 'other' ],
    a_handler_with_a_prototype_is_a_method       => [ sub ($r) { My::Resolved::by('My::Methods') }, 'of My::Methods' ],
    a_variable_holds_the_object                  => [ sub ($r) { My::Resolved::by('$main::object->other') }, 'other' ],
    an_anonymous_sub_is_compiled                 => [ sub ($r) { My::Resolved::by('sub { "anonymous" }') }, 'anonymous' ],
    a_sign_before_the_name_is_dropped            => [ sub ($r) { My::Resolved::by('+My::Resolved') . My::Resolved::by('-My::Resolved') }, 'of the package' x 2 ],
    a_syntax_error_is_reported                   => [ sub ($r) { My::Resolved::by('sub { 1 +') }, qr/\Asyntax error/ ],
    a_missing_module_is_reported                 => [ sub ($r) { My::Resolved::by('No::Such::Module') }, qr/\ACan't find No::Such::Module->handler: no module No::Such::Module in \@INC/ ],
    a_missing_method_is_reported                 => [ sub ($r) { My::Resolved::by('My::Resolved->none') }, qr/My::Resolved/ ],
    a_text_that_is_no_name_is_reported           => [ sub ($r) { My::Resolved::by('a b') }, qr/\A"a b" names no handler: expected Package, Package::sub, Class->method/ ],
    a_long_name_is_refused                       => [ sub ($r) { My::Resolved::by( 'A' x 5000 ) }, qr/\Aa text of 5000 characters names no handler: expected at most 4096\n\z/ ],
    a_variable_without_an_object_is_reported     => [ sub ($r) { my ($code) = Cameleer::resolve_handler('$main::none->other'); eval { $code->() }; $@ }, "\$main::none->other: the variable holds no object\n" ],
    require_module_accepts_a_semicolon_and_words => [ sub ($r) { Cameleer::require_module("Apache::Table;\n"); Cameleer::require_module('Apache::Constants qw(OK)') for (); 'loaded' }, 'loaded' ],
    require_module_refuses_a_text_with_blanks    => [ sub ($r) { eval { Cameleer::require_module('a b') }; $@ }, qr/\APerlModule: "a b" is not a module's name\n\z/ ],
    require_file_reports_a_missing_file          => [ sub ($r) { eval { Cameleer::require_file('/no/such.pl') }; $@ }, qr{\ACan't locate /no/such\.pl} ],
    set_env_splits_at_the_first_equals_sign      => [ sub ($r) { local $ENV{ODD}; Cameleer::set_env('ODD=a=b'); $ENV{ODD} }, 'a=b' ],
    add_library_adds_a_folder_once               => [ sub ($r) { local @INC = ('/a'); Cameleer::add_library($_) for '/b', '/a', '/b'; "@INC" }, '/b /a' ],
    an_unknown_directive_is_not_defined          => [ sub ($r) { '[' . Cameleer::defines_directive('NoSuch') . ']' }, '[]' ],
};
