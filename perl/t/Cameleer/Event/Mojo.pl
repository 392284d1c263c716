# Cameleer::Event::Mojo: recognises applications of Mojolicious; run by packages.t

use v5.36;

@My::Event::Shop::ISA = ('Mojolicious');

return {
    an_application_of_mojolicious_is_accepted => [ sub ($r) { Cameleer::Event::Mojo->accepts( bless {}, 'My::Event::Shop' ) ? 'accepted' : 'refused' }, 'accepted' ],
    other_values_are_not => [ sub ($r) { join '', map { Cameleer::Event::Mojo->accepts($_) ? 1 : 0 } sub { }, undef, 'Mojolicious', bless {}, 'My::Other' }, '0000' ],
};
