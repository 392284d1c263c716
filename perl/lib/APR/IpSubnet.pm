package APR::IpSubnet;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::IpSubnet - networks

=head1 SYNOPSIS

    my $net = APR::IpSubnet->new( $pool, '10.0.0.0', '255.0.0.0' );
    print 'inside' if $net->test($address);

=head1 DESCRIPTION

C<new(POOL, ADDRESS, MASK)>: the mask as an address or as a number of bits, without it one host. C<test> asks an L<APR::SockAddr>.

=cut
