# APR::IpSubnet: addresses inside and outside a subnet, and invalid subnets; run by packages.t

use v5.36;

sub My::Subnets::has ( $address, @net ) {
    require APR::Pool;
    require APR::SockAddr;
    my $pool = APR::Pool->new;
    return APR::IpSubnet->new( $pool, @net )->test( APR::SockAddr->new( $pool, $address ) ) ? 'in' : 'out';
}

return {
    a_mask_is_an_address_or_a_number_of_bits => [ sub ($r) { join '|', map { My::Subnets::has( '10.1.2.3', @$_ ) } [ '10.0.0.0', '255.0.0.0' ], [ '10.0.0.0', '8' ], ['10.1.2.3'], [ '11.0.0.0', '8' ] }, 'in|in|in|out' ],
    an_invalid_subnet_dies                   => [ sub ($r) { join '|', map { my $net = $_; eval { My::Subnets::has( '10.1.2.3', @$net ) } ? 'made' : 'died' } ['x'], [ '10.0.0.0', '99' ], [''] }, 'died|died|died' ],
    leaks_nothing                            => [ sub ($r) { TestServer::growth( sub { My::Subnets::has( '10.1.2.3', '10.0.0.0', 8 ) } ) }, 'steady' ],
};
