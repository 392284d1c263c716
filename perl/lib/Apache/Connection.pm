package Apache::Connection;

use v5.36;
use Socket   ();
use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

# No identd is queried, so the name is never known.
sub remote_logname ($c) { return undef }    ## no critic: a list context expects one value

# The descriptor whose output is added to the response; with 0, the descriptor of the body.
sub fileno ( $c, $for_output = 1 ) { return $for_output ? 1 : 0 }

sub local_addr ($c) { return _packed( local_port($c), local_ip($c) ) }

# Setting remote_addr sets remote_ip.
sub remote_addr ( $c, @new ) {
    my $before = _packed( remote_port($c), remote_ip($c) );
    remote_ip( $c, _ip( $new[0] ) ) if @new;
    return $before;
}

sub _ip ($packed) {
    return Socket::inet_ntoa( ( Socket::unpack_sockaddr_in($packed) )[1] )
        if Socket::sockaddr_family($packed) == Socket::AF_INET();
    return Socket::inet_ntop( Socket::AF_INET6(), ( Socket::unpack_sockaddr_in6($packed) )[1] );
}

# The name of the address, if that name's addresses include it.
sub verified_host ($c) {
    my ( $error, $name ) = Socket::getnameinfo( remote_addr($c), Socket::NI_NAMEREQD(), Socket::NIx_NOSERV() );
    return undef if $error || $name !~ /[a-z]/i;    ## no critic: a list context expects one value
    my ( undef, @found ) = Socket::getaddrinfo( $name, '', { socktype => Socket::SOCK_STREAM() } );
    my @addresses = map { ( Socket::getnameinfo( $_->{addr}, Socket::NI_NUMERICHOST(), Socket::NIx_NOSERV() ) )[1] } @found;
    return ( grep { $_ eq remote_ip($c) } @addresses ) ? $name : undef;
}

sub _packed ( $port, $ip ) {
    return Socket::pack_sockaddr_in6( $port, Socket::inet_pton( Socket::AF_INET6(), $ip ) ) if $ip =~ /:/;
    my $address = Socket::inet_aton($ip) // return undef;    ## no critic
    return Socket::pack_sockaddr_in( $port, $address );
}

1;

__END__

=head1 NAME

Apache::Connection - the client's connection

=head1 SYNOPSIS

    my $c = $r->connection;
    $c->remote_ip;        # 192.0.2.1
    $c->remote_host;      # undef unless the name was looked up
    my ( $port, $address ) = Socket::unpack_sockaddr_in( $c->remote_addr );
    $c->user;  $c->auth_type;
    $c->remote_logname;   # undef: no identd is asked
    $c->aborted;

=head1 DIFFERENCES

The client's socket belongs to the front. C<fileno> is the descriptor whose output is added to the response (1),
C<fileno(0)> that of the body (0). C<aborted> is true when the response has no receiver: the client has disconnected, or
a timeout has passed. It is also true when the client has only closed its sending half, which cannot be distinguished
until something is sent: such a client still gets the handler's output.

=cut
