# APR::SockAddr: address and port of a socket, and their comparison; run by packages.t

use v5.36;

sub My::Addr::of (@words) { require APR::Pool; return APR::SockAddr->new( APR::Pool->new, @words ) }

return {
    an_address_has_ip_and_port => [ sub ($r) { my $a = My::Addr::of( '127.0.0.1', 80 ); $a->ip_get . ':' . $a->port }, '127.0.0.1:80' ],
    equal_compares_addresses   => [ sub ($r) { join '|', map { My::Addr::of('10.0.0.1')->equal( My::Addr::of($_) ) ? 'same' : 'other' } '10.0.0.1', '10.0.0.2' }, 'same|other' ],
    a_host_name_dies           => [ sub ($r) { eval { My::Addr::of('localhost') }; "$@" }, qr/\AAPR::SockAddr::new: \(20016\) The specified IP address is invalid/ ],
    leaks_nothing              => [ sub ($r) { TestServer::growth( sub { My::Addr::of( '127.0.0.1', 80 )->ip_get } ) }, 'steady' ],
};
