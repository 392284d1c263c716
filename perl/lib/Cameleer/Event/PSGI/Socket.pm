package Cameleer::Event::PSGI::Socket;

use v5.36;
use parent 'IO::Socket::UNIX';
use B            ();
use Scalar::Util ();

# `psgix.io`: a duplicate of a stream's descriptor, so that the application can close its own. The server's stays open
# until this object is gone.

sub of ( $class, $exchange ) {
    open my $handle, '+<&', $exchange->{stream}{handle} or die "psgix.io: $!\n";
    binmode $handle;
    my $self = bless $handle, $class;
    $self->autoflush(1);
    ${*$self}{cameleer_exchange} = $exchange;
    Scalar::Util::weaken( ${*$self}{cameleer_exchange} );
    return $self;
}

# Whether the application has the socket, besides this environment and this sub.
sub is_taken ( $self, $env ) {
    my $known = $env && defined $env->{'psgix.io'} ? 2 : 1;
    return B::svref_2object($self)->REFCNT > $known;
}

sub DESTROY ($self) {
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    local ( $@, $!, $? );
    my $exchange = ${*$self}{cameleer_exchange};
    $exchange->socket_is_gone if $exchange;
    return;
}

1;
