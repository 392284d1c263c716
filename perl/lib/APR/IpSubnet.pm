package APR::IpSubnet;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::IpSubnet - a network of IP addresses

=head1 SYNOPSIS

    my $net = APR::IpSubnet->new( $pool, '10.0.0.0', '255.0.0.0' );
    print 'inside' if $net->test($address);

=head1 DESCRIPTION

C<new(POOL, ADDRESS, MASK)>: the mask is an address or a number of bits; without a mask the network
is one host. C<test> returns whether an L<APR::SockAddr> is in the network.

=cut
