# Cameleer::Element: runs the sub, package or method of a server-side include; run by packages.t

use v5.36;

sub My::Element::sub { my ( $r, @words ) = @_; $r->print( join '|', ref $r, @words ); return }
sub My::Element::handler { $_[0]->print('handler'); return }
sub My::Element::method  { my ( $class, $r, @words ) = @_; $r->print("$class|@words"); return }

return {
    execute_calls_a_sub_with_its_words     => [ sub ($r) { Cameleer::Element::execute("My::Element::sub\0a\0\0b"); '' }, 'Apache|a||b' ],
    execute_calls_the_handler_of_a_package => [ sub ($r) { Cameleer::Element::execute('My::Element'); '' }, 'handler' ],
    execute_calls_a_class_method           => [ sub ($r) { Cameleer::Element::execute("My::Element->method\0a"); '' }, 'My::Element|a' ],
    a_missing_sub_dies                     => [ sub ($r) { eval { Cameleer::Element::execute('No::Such::sub') }; $@ }, "includes: there is no sub No::Such::sub\n" ],
    a_missing_class_dies                   => [ sub ($r) { eval { Cameleer::Element::execute('No::Such->method') }; $@ }, qr{\ACan't locate No/Such\.pm in \@INC} ],
    a_die_reaches_the_caller               => [ sub ($r) { local *My::Element::handler = sub { die "inside\n" }; eval { Cameleer::Element::execute('My::Element') }; $@ }, "inside\n" ],
    leaks_nothing                          => [ sub ($r) { no warnings 'once'; local *My::Element::quiet = sub { 1 }; TestServer::growth( sub { Cameleer::Element::execute("My::Element::quiet\0a") } ) }, 'steady' ],
};
