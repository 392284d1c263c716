# B::TerseSize: the sizes of subs, packages and values; run by packages.t

use v5.36;

sub My::Weighed::one { my ($x) = @_; return $x + 1 }

return {
    sub_size_counts_operators_and_bytes => [ sub ($r) { my ( $ops, $bytes ) = B::TerseSize::sub_size( \&My::Weighed::one ); $ops > 5 && $bytes > 100 ? 'weighed' : "$ops $bytes" }, 'weighed' ],
    package_size_lists_each_sub         => [ sub ($r) { my ($subs) = B::TerseSize::package_size('My::Weighed'); join '|', map { "$_ " . ( $subs->{$_}{size} > 0 ) } sort keys %$subs }, qr/\bone 1\b/ ],
    value_size_counts_bytes             => [ sub ($r) { B::TerseSize::value_size( \( 'x' x 1000 ) ) > 1000 ? 'counted' : 'small' }, 'counted' ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { B::TerseSize::sub_size( \&My::Weighed::one ) } ) }, 'steady' ],
};
