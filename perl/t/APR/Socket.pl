# APR::Socket: sends, receives and waits, with errors of closed sockets; run by packages.t

use v5.36;
use Socket ();

# A socket of APR, and the handle at its other end.
sub My::Sockets::pair {
    require APR::Pool;
    require APR::SockAddr;
    socketpair my $own, my $other, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!";
    my $socket = APR::Socket->from_fileno( APR::Pool->new, fileno $own );
    close $own;
    return ( $socket, $other );
}

return {
    send_writes_to_the_peer                  => [ sub ($r) { my ( $s, $h ) = My::Sockets::pair(); my $n = $s->send('hello'); sysread $h, my $text, 9; "$n $text" }, '5 hello' ],
    recv_reads_from_the_peer                 => [ sub ($r) { my ( $s, $h ) = My::Sockets::pair(); syswrite $h, 'back'; my $n = $s->recv( my $text, 9 ); "$n $text" }, '4 back' ],
    recv_returns_0_at_the_end                => [ sub ($r) { my ( $s, $h ) = My::Sockets::pair(); close $h; $s->recv( my $text, 9 ) }, '0' ],
    recv_without_data_dies_after_the_timeout => [ sub ($r) { my ( $s, $h ) = My::Sockets::pair(); $s->timeout_set(0); eval { $s->recv( my $text, 9 ) }; ref $@ }, 'APR::Error' ],
    timeout_get_returns_the_set_timeout      => [ sub ($r) { my ( $s, $h ) = My::Sockets::pair(); $s->timeout_set(5_000_000); $s->timeout_get }, '5000000' ],
    recv_on_a_closed_socket_dies             => [ sub ($r) { my ( $s, $h ) = My::Sockets::pair(); $s->close; eval { $s->recv( my $text, 9 ) }; "$@" }, qr/\AAPR::Socket::recv: \(9\) Bad file descriptor/ ],
    leaks_nothing                            => [ sub ($r) { TestServer::growth( sub { my ( $s, $h ) = My::Sockets::pair(); $s->send('x') } ) }, 'steady' ],
};
