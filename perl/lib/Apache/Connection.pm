package Apache::Connection;

use v5.36;
use Socket   ();
use XSLoader ();

XSLoader::load(__PACKAGE__);

sub remote_logname { return undef }    ## no critic: a list context expects one value
sub fileno         { return undef }    ## no critic

sub remote_addr ($c) { return _packed( $c->remote_port, $c->remote_ip ) }
sub local_addr  ($c) { return _packed( $c->local_port,  $c->local_ip ) }

# The name that the address's owner gives it, if that name's owner gives it this address.
sub verified_host ($c) {
    my ( $error, $name ) = Socket::getnameinfo( $c->remote_addr, Socket::NI_NAMEREQD(), Socket::NIx_NOSERV() );
    return undef if $error || $name !~ /[a-z]/i;    ## no critic: a list context expects one value
    my ( undef, @found ) = Socket::getaddrinfo( $name, '', { socktype => Socket::SOCK_STREAM() } );
    my @addresses = map { ( Socket::getnameinfo( $_->{addr}, Socket::NI_NUMERICHOST(), Socket::NIx_NOSERV() ) )[1] } @found;
    return ( grep { $_ eq $c->remote_ip } @addresses ) ? $name : undef;
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
    $c->aborted;

=head1 DIFFERENCES

C<fileno> is undef: the client's socket belongs to the front. C<aborted> is true only when the front itself is gone.

=cut
