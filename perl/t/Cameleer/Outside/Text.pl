# Cameleer::Outside::Text: the Perl halves of functions give what their C halves give; run by packages.t

use v5.36;

my @TEXTS = ( '', 'a b', q{<a href="x">&'}, "/a?b=%20+c%zz%4;\x00~", "\x{e9}", "\x{263a}<", join( '', map {chr} 1 .. 255 ) );

# Whether the Perl half gives the compiled half's result for each text.
sub My::Halves::differing ( $name, @texts ) {
    my ( $compiled, $plain ) = map { \&{"$_$name"} } '', 'Cameleer::Outside::';
    no warnings;
    return join '|', grep { my $same = $compiled->($_) eq $plain->($_); !$same } @texts;
}

return {
    escape_html_is_the_servers => [ sub ($r) { require Apache::Util; My::Halves::differing( 'Apache::Util::escape_html', @TEXTS ) }, '' ],
    escape_uri_is_the_servers  => [ sub ($r) { require Apache::Util; My::Halves::differing( 'Apache::Util::escape_uri', grep { !/\0/ } @TEXTS ) }, '' ],
    parse_args_is_the_servers  => [ sub ($r) { join '|', map { my $q = $_; join( ',', Apache::parse_args( 1, $q ) ) eq join( ',', Cameleer::Outside::Apache::parse_args( 1, $q ) ) ? 'same' : $q } 'a=1&b=%32', 'a;b=2;;c', 'one+two', '', '=x&y==z', '&', '=' }, 'same|same|same|same|same|same|same' ],
    bytes_are_counted_as_utf8  => [ sub ($r) { join '|', map { length Cameleer::Outside::Text::bytes($_) } "\x{e9}", "\x{263a}", '', undef }, '1|3|0|0' ],
    untaint_leaves_the_values  => [ sub ($r) { my ( $one, $two ) = ( 'a', undef ); Cameleer::Outside::Apache::untaint( undef, $one, $two ); $one . ( $two // 'undef' ) }, 'aundef' ],
};
