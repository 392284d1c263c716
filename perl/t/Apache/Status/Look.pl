# Apache::Status::Look: looks up variables and subs, where the options allow a dump; run by packages.t

use v5.36;

our @looked = ( 1, 2 );

sub My::Looking::page ( $r, @what ) { require Apache::Status; return join '', @{ Apache::Status::Look::page( $r, @what ) } }
sub My::Looking::added ( $left, $right = 1 ) { return $left + $right }

return {
    a_view_without_its_option_is_forbidden => [ sub ($r) { My::Looking::page( $r, 'main::looked', 'ARRAY', 'dumper' ) }, qr/Not allowed here/ ],
    an_unknown_view_is_reported            => [ sub ($r) { My::Looking::page( $r, 'main::looked', 'ARRAY', '<b>' ) }, '<p>&lt;b&gt; is not a view of this page.</p>' ],
    info_describes_a_sub                   => [ sub ($r) { My::Looking::page( $r, 'My::Looking::added', 'CODE', 'info' ) }, qr/Package: My::Looking\nLine: \d+\nPrototype: none\nXSUB: no/ ],
    a_missing_sub_is_reported              => [ sub ($r) { My::Looking::page( $r, 'My::Looking::none', 'CODE', 'info' ) }, '<p>There is no CODE My::Looking::none.</p>' ],
    lookup_finds_an_array                  => [ sub ($r) { require Apache::Status; "@{ Apache::Status::Look::lookup( 'main::looked', 'ARRAY' ) }" }, '1 2' ],
    lookup_creates_no_symbol               => [ sub ($r) { require Apache::Status; my @said = map { Apache::Status::Look::lookup( 'My::Unmade::Thing', $_ ) // 'undef' } qw(SCALAR CODE); join '|', @said, exists $My::{'Unmade::'} ? 'made' : 'none' }, 'undef|undef|none' ],
    deparse_prints_the_code                => [ sub ($r) { require Apache::Status; Apache::Status::Look::deparse( \&My::Looking::added, $r ) }, qr/return \$left \+ \$right/ ],
    lexinfo_lists_the_variables            => [ sub ($r) { require Apache::Status; Apache::Status::Look::lexinfo( \&My::Looking::added, $r ) }, qr/^\$left$/m ],
};
