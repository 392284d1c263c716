package APR::Socket;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Socket - sockets

=head1 SYNOPSIS

    use APR::Const -compile => qw(SO_NONBLOCK POLLIN SUCCESS);

    my $socket = APR::Socket->from_fileno( $pool, fileno $handle );
    $socket->opt_set( APR::Const::SO_NONBLOCK, 0 );
    $socket->timeout_set(5_000_000);
    $socket->send('text');
    my $length = $socket->recv( my $data, 8192 );
    print 'more' if $socket->poll( $pool, 1_000, APR::Const::POLLIN ) == APR::Const::SUCCESS;

=head1 DESCRIPTION

C<from_fileno> makes a socket over a duplicate of a descriptor, which is closed with the pool.
C<recv(BUFFER, LENGTH)> and C<send(DATA, LENGTH)> return the number of bytes transferred; C<recv>
returns 0 at the end of the stream; errors throw an L<APR::Error>. Timeouts are in microseconds: a
negative one blocks, 0 never blocks. Other methods: C<opt_get opt_set timeout_get fileno close
local_addr remote_addr bind connect listen recvfrom sendto>; the last five return a status.

=cut
