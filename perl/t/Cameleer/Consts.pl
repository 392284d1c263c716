# Cameleer::Consts: imports constants and groups when they are first used; run by packages.t

use v5.36;

my $asked = 0;

sub My::Offered::begin {
    Cameleer::Consts::offer( 'My::Offered', common => ONE => 1, common => TWO => 2, rare => LATE => sub { ++$asked } ) if !My::Offered->can('import');
    return;
}

return {
    import_offers_the_common_group => [ sub ($r) { My::Offered::begin(); package My::Common; My::Offered->import; join '|', map { My::Common->can($_) ? $_ : "no $_" } qw(ONE TWO LATE) }, 'ONE|TWO|no LATE' ],
    compile_defines_without_import => [ sub ($r) { My::Offered::begin(); package My::Compiled; My::Offered->import( -compile => 'ONE' ); My::Offered::ONE() . ( My::Compiled->can('ONE') ? 'here' : 'there' ) }, '1there' ],
    a_constant_is_asked_for_once   => [ sub ($r) { My::Offered::begin(); package My::Late; My::Offered->import('LATE') for 1 .. 3; My::Late->can('LATE')->() . $asked }, '11' ],
    a_constant_is_a_method         => [ sub ($r) { My::Offered::begin(); My::Offered->import( -compile => 'TWO' ); My::Offered->TWO }, '2' ],
    an_unknown_group_dies          => [ sub ($r) { My::Offered::begin(); eval { My::Offered->import(':none') }; $@ }, qr/\Aunknown My::Offered group `none' at \S+Consts\.pl line \d+/ ],
    an_unknown_constant_dies       => [ sub ($r) { My::Offered::begin(); eval { My::Offered->import('NONE') }; $@ }, qr/\Aunknown My::Offered constant NONE at \S+Consts\.pl line \d+/ ],
    leaks_nothing                  => [ sub ($r) { My::Offered::begin(); TestServer::growth( sub { package My::Growing; My::Offered->import(':common') } ) }, 'steady' ],
};
