# Apache::Status::Package: lists the symbols of a package by kind; run by packages.t

use v5.36;

sub My::Packages::page ( $r, @what ) { require Apache::Status; return join '', @{ Apache::Status::Package::page( $r, @what ) } }

return {
    a_package_lists_its_symbols        => [ sub ($r) { My::Packages::page( $r, 'My::Packages', '', '' ) }, qr{<h2>My::Packages</h2>\n<h3>CODE</h3>\n.*page} ],
    an_invalid_name_is_reported        => [ sub ($r) { My::Packages::page( $r, q{main'; system "x"}, '', '' ) }, '<p>There is no such package.</p>' ],
    a_missing_package_is_reported      => [ sub ($r) { My::Packages::page( $r, 'My::Unmade', '', '' ) }, '<p>There is no package My::Unmade.</p>' ],
    an_unknown_kind_is_reported        => [ sub ($r) { My::Packages::page( $r, 'main::x', 'FORMAT', '' ) }, '<p>There is no such kind of symbol.</p>' ],
    exists_package_knows_packages_only => [ sub ($r) { join '', map { Apache::Status::Package::exists_package($_) } qw(main My::Packages My::Packages::page My::Unmade) }, '1100' ],
    names_lists_the_symbols_of_a_kind  => [ sub ($r) { no warnings 'once'; @My::Packages::list = (1); join '|', map { join ',', Apache::Status::Package::names( 'My::Packages', $_ ) } qw(CODE ARRAY HASH) }, 'page|list|' ],
};
