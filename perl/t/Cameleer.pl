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
    package                    => [ sub ($r) { My::Resolved::by('My::Resolved') }, 'of the package' ],
    sub                        => [ sub ($r) { My::Resolved::by('My::Resolved::other') }, 'other' ],
    method                     => [ sub ($r) { My::Resolved::by('My::Resolved->other') }, 'other' ],
    prototype                  => [ sub ($r) { My::Resolved::by('My::Methods') }, 'of My::Methods' ],
    object                     => [ sub ($r) { My::Resolved::by('$main::object->other') }, 'other' ],
    anonymous                  => [ sub ($r) { My::Resolved::by('sub { "anonymous" }') }, 'anonymous' ],
    signed                     => [ sub ($r) { My::Resolved::by('+My::Resolved') . My::Resolved::by('-My::Resolved') }, 'of the package' x 2 ],
    a_syntax_error_is_reported => [ sub ($r) { My::Resolved::by('sub { 1 +') }, qr/\Asyntax error/ ],
    no_module                  => [ sub ($r) { My::Resolved::by('No::Such::Module') }, qr/\ACan't find No::Such::Module->handler: no module No::Such::Module in \@INC/ ],
    no_method                  => [ sub ($r) { My::Resolved::by('My::Resolved->none') }, qr/My::Resolved/ ],
    no_name                    => [ sub ($r) { My::Resolved::by('a b') }, qr/\A"a b" names no handler: expected Package, Package::sub, Class->method/ ],
    a_long_name_is_refused     => [ sub ($r) { My::Resolved::by( 'A' x 5000 ) }, qr/\Aa text of 5000 characters names no handler: expected at most 4096\n\z/ ],
    no_object                  => [ sub ($r) { my ($code) = Cameleer::resolve_handler('$main::none->other'); eval { $code->() }; $@ }, "\$main::none->other: the variable holds no object\n" ],
    module                     => [ sub ($r) { Cameleer::require_module("Apache::Table;\n"); Cameleer::require_module('Apache::Constants qw(OK)') for (); 'loaded' }, 'loaded' ],
    no_word                    => [ sub ($r) { eval { Cameleer::require_module('a b') }; $@ }, qr/\APerlModule: "a b" is not a module's name\n\z/ ],
    no_file                    => [ sub ($r) { eval { Cameleer::require_file('/no/such.pl') }; $@ }, qr{\ACan't locate /no/such\.pl} ],
    variable                   => [ sub ($r) { local $ENV{ODD}; Cameleer::set_env('ODD=a=b'); $ENV{ODD} }, 'a=b' ],
    library                    => [ sub ($r) { local @INC = ('/a'); Cameleer::add_library($_) for '/b', '/a', '/b'; "@INC" }, '/b /a' ],
    unknown                    => [ sub ($r) { '[' . Cameleer::defines_directive('NoSuch') . ']' }, '[]' ],
};
