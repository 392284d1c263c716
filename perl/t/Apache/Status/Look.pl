# Apache::Status::Look: looks up variables and subs, where the options allow a dump; run by packages.t

use v5.36;

our @looked = ( 1, 2 );

sub My::Looking::page ( $r, @what ) { require Apache::Status; return join '', @{ Apache::Status::Look::page( $r, @what ) } }
sub My::Looking::added ( $left, $right = 1 ) { return $left + $right }

return {
    forbidden => [ sub ($r) { My::Looking::page( $r, 'main::looked', 'ARRAY', 'dumper' ) }, qr/Not allowed here/ ],
    unknown   => [ sub ($r) { My::Looking::page( $r, 'main::looked', 'ARRAY', '<b>' ) }, '<p>&lt;b&gt; is not a view of this page.</p>' ],
    info      => [ sub ($r) { My::Looking::page( $r, 'My::Looking::added', 'CODE', 'info' ) }, qr/Package: My::Looking\nLine: \d+\nPrototype: none\nXSUB: no/ ],
    no_sub    => [ sub ($r) { My::Looking::page( $r, 'My::Looking::none', 'CODE', 'info' ) }, '<p>There is no CODE My::Looking::none.</p>' ],
    found     => [ sub ($r) { require Apache::Status; "@{ Apache::Status::Look::lookup( 'main::looked', 'ARRAY' ) }" }, '1 2' ],
    creates   => [ sub ($r) { require Apache::Status; my @said = map { Apache::Status::Look::lookup( 'My::Unmade::Thing', $_ ) // 'undef' } qw(SCALAR CODE); join '|', @said, exists $My::{'Unmade::'} ? 'made' : 'none' }, 'undef|undef|none' ],
    deparsed  => [ sub ($r) { require Apache::Status; Apache::Status::Look::deparse( \&My::Looking::added, $r ) }, qr/return \$left \+ \$right/ ],
    lexicals  => [ sub ($r) { require Apache::Status; Apache::Status::Look::lexinfo( \&My::Looking::added, $r ) }, qr/^\$left$/m ],
};
