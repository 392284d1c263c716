package APR::SockAddr;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::SockAddr - an address and a port

=head1 SYNOPSIS

    my $address = APR::SockAddr->new( $pool, '127.0.0.1', 80 );
    print $address->ip_get, $address->port;
    print 'the same' if $address->equal($other);

=head1 DESCRIPTION

C<new> takes numeric addresses; names are not looked up.

=cut
