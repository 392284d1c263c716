package Apache::Connection;

use v5.36;
use Socket   ();
use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

# Asking a client's identd is out of use: nobody is ever named.
sub remote_logname ($c) { return undef }    ## no critic: a list context expects one value

# Where output joins the answer, or with 0 where the body comes from.
sub fileno ( $c, $for_output = 1 ) { return $for_output ? 1 : 0 }

sub local_addr ($c) { return _packed( local_port($c), local_ip($c) ) }

# Setting it sets remote_ip.
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

# The name that the address's owner gives it, if that name's owner gives it this address.
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

Apache::Connection - who asks

=head1 SYNOPSIS

    my $c = $r->connection;
    $c->remote_ip;        # 192.0.2.1
    $c->remote_host;      # undef unless the name was looked up
    my ( $port, $address ) = Socket::unpack_sockaddr_in( $c->remote_addr );
    $c->user;  $c->auth_type;
    $c->remote_logname;   # undef: no identd is asked
    $c->aborted;

=head1 DIFFERENCES

The client's socket belongs to the front. C<fileno> is the descriptor whose output joins the answer (1), C<fileno(0)> the
one of the body (0). C<aborted> is true when nobody waits for the answer any more: the client has left, or a time-out has
passed. It is also true for a client that has only ended its half of the connection, which looks the same from here until something
is sent: what the handler prints to that one arrives.

=cut
