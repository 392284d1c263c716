package Cameleer::Event::Mojo::Server;

use Mojo::Base 'Mojo::Server::Daemon', -signatures;

use Cameleer::Event ();
use Cameleer::Event::Mojo::WebSocket ();
use IO::Handle      ();
use IO::Socket::UNIX ();
use Mojo::IOLoop::Stream ();
use Scalar::Util qw(weaken);

# The front closes idle connections before this server does, so that no request meets the end of one.
has keep_alive_timeout => 60;

# The front decides how many requests a worker gets (MaxRequestsPerChild).
has max_requests => sub { 1_000_000_000 };

# Seconds after the order to leave, in which requests may come that were on their way. At a stop, the process is killed
# after a second.
my $LATE = 0.25;

# Longest time in seconds before the end of GracefulShutdownTimeout, when the process is killed, in which WebSockets are
# closed.
my $CLOSING = 2;

# Runs the loop until the worker must leave and its last connection has ended.
sub serve ( $self, $settings ) {
    my $loop = $self->ioloop;
    $self->{settings} = $settings;
    # Not a copy, which forked children would share with the worker.
    open $self->{port}, '<&=', Cameleer::Event::descriptor() or die "the packet socket: $!\n";
    # The descriptor is the worker's, so the handle stays open.
    state @keep;
    push @keep, $self->{port};
    $self->app->server($self);
    weaken( my $weak = $self );
    $loop->reactor->io( $self->{port} => sub { $weak->obey } )->watch( $self->{port}, 1, 0 );
    if ( @{ $settings->{warm_up} } ) {
        require Cameleer::Event::WarmUp;
        my $add = sub ($descriptor) { $self->add_stream($descriptor) };
        Cameleer::Event::WarmUp->run( Cameleer::Event::Mojo::Loop->new($loop), $add, $settings );
    }
    $loop->recurring( 1 => sub { Cameleer::Event::tick() } );
    Cameleer::Event::ready();
    # The interruption by RequestTimeout may reach the loop itself.
    until ( eval { $loop->start; 1 } ) { warn $@ }
    return;
}

sub obey ($self) {
    my ( $leave, @streams ) = Cameleer::Event::orders();
    $self->add_stream($_) for @streams;
    $self->leave            if $leave & 1;
    $self->close_websockets if $leave & 4;
    $self->ioloop->reactor->remove( $self->{port} ) if $leave & 2;
    return;
}

# As Mojo::Server::Daemon does for a connection that it accepts.
sub add_stream ( $self, $descriptor ) {
    my $handle = IO::Socket::UNIX->new_from_fd( $descriptor, '+<' ) or die "a stream: $!\n";
    $handle->blocking(0);
    my $stream = Mojo::IOLoop::Stream->new($handle);
    my $id     = $self->ioloop->stream($stream);
    # The timer is one of the stream's loop, so the stream has its loop before.
    $stream->timeout( $self->inactivity_timeout );
    $self->{connections}{$id} = {};
    weaken $self;
    $stream->on( close   => sub { $self && $self->_close($id) } );
    $stream->on( error   => sub { $self && $self->app->log->error(pop) && $self->_close($id) } );
    $stream->on( read    => sub { $self->_read( $id => pop ) } );
    $stream->on( timeout => sub { $self->_trace( $id, 'Inactivity timeout' ) } );
    return;
}

# The facts of the client are known before the application gets the request.
sub _build_tx ( $self, $id, $c ) {
    my $tx = $self->SUPER::_build_tx( $id, $c );
    unshift @{ $tx->subscribers('request') }, \&take_facts;
    $tx->res->headers->remove('Server');
    return $tx;
}

# The front speaks the WebSocket protocol with clients.
sub emit ( $self, $name, @arguments ) {
    if ( $name eq 'request' && $arguments[0]->is_websocket ) {
        Cameleer::Event::Mojo::WebSocket->take_over( $arguments[0] );
    }
    return $self->SUPER::emit( $name, @arguments );
}

# Before the head of the response to a handshake is written.
sub _write ( $self, $id ) {
    # A connection that has gone gets no entry again.
    my $c         = $self->{connections}{$id} or return;
    my $websocket = $c->{next};
    $websocket->accepted if $websocket && $websocket->can('accepted') && ( $websocket->res->code // 0 ) == 101;
    return $self->SUPER::_write($id);
}

sub take_facts ($tx) {
    my $req     = $tx->req;
    my $headers = $req->headers;
    my %fact    = map { $_ => $headers->header("Cameleer-$_") } qw(Client Server Scheme Request-Id User Script-Name Warm-Up);
    $headers->remove($_) for grep {/\ACameleer-/i} @{ $headers->names };
    my ( $address, $port ) = split / /, $fact{Client} // '';
    $tx->remote_address($address)->remote_port($port);
    ( $address, $port ) = split / /, $fact{Server} // '';
    $tx->local_address($address)->local_port($port);
    $req->request_id( $fact{'Request-Id'} ) if defined $fact{'Request-Id'};
    my $url  = $req->url;
    my $base = $url->base;
    $base->scheme( $fact{Scheme} ) if defined $fact{Scheme};
    $req->env->{REMOTE_USER} = $fact{User} if defined $fact{User};
    $req->env->{CAMELEER_WARMUP} = 1 if $fact{'Warm-Up'};
    begins($tx);
    mount( $url, $fact{'Script-Name'} ) if defined $fact{'Script-Name'};
    return;
}

# As Mojo::Message::Request does for SCRIPT_NAME: the path at which the application is mounted is a part of the base.
sub mount ( $url, $name ) {
    my $path  = $url->path;
    my $parts = $path->parts;
    my @mount = grep {length} split m{/}, $name;
    for my $part (@mount) {
        last unless @$parts && $parts->[0] eq $part;
        shift @$parts;
    }
    $path->leading_slash(1);
    $url->base->path("/$name/" =~ s{//+}{/}gr);
    return;
}

sub leave ($self) {
    return if $self->{leaving}++;
    my $loop = $self->ioloop;
    $loop->emit('finish');
    $self->max_requests(1);
    weaken $self;
    $loop->timer( $LATE => sub { $self && $self->close_idle } );
    my $graceful = $self->{settings}{graceful};
    return unless $graceful > 0;
    my $closing = $graceful / 3 < $CLOSING ? $graceful / 3 : $CLOSING;
    $loop->timer( $graceful - $closing => sub { $self && $self->end( $closing / 2 ) } );
    return;
}

# Closes the connections without a request. The others end with theirs.
sub close_idle ($self) {
    $self->{is_late} = 1;
    my $connections = $self->{connections} //= {};
    $self->_remove($_) for grep { !$connections->{$_}{tx} } keys %{$connections};
    $self->end_if_done;
    return;
}

# 1012 is "service restart" (RFC 6455, registry of close codes).
sub close_websockets ($self) {
    for my $c ( values %{ $self->{connections} } ) {
        $c->{tx}->finish(1012) if $c->{tx} && $c->{tx}->is_websocket;
    }
    return;
}

# Ends what is still open.
sub end ( $self, $time ) {
    $self->close_websockets;
    $self->ioloop->timer( $time => sub ($loop) { $loop->stop } );
    return;
}

# The server sees the calls of the application: for a request, and for messages of its WebSocket.
sub _read ( $self, $id, $chunk ) {
    my $tx = ( $self->{connections}{$id} // {} )->{tx};
    begins( $tx, 1 ) if $tx && $tx->is_websocket;
    my $is_done = eval { $self->SUPER::_read( $id, $chunk ); 1 };
    my $error   = $@;
    Cameleer::Event::ends();
    die $error if !$is_done;
    return;
}

# Kept, because a message of a WebSocket costs less than to build the path of its URL.
sub begins ( $tx, $is_more = 0 ) {
    my $request = $tx->{cameleer_request} //= do {
        my $req = $tx->req;
        my $host = ( $req->headers->host // '' ) =~ s/:[0-9]+\z//r;
        [ $req->method, $host, $tx->remote_address, $req->url->path_query ];
    };
    Cameleer::Event::begins( @$request, $is_more );
    return;
}

sub _close ( $self, $id ) {
    $self->SUPER::_close($id);
    $self->end_if_done;
    return;
}

sub _finish ( $self, $id ) {
    $self->SUPER::_finish($id);
    my $c = $self->{connections}{$id};
    $self->_remove($id) if $self->{is_late} && $c && !$c->{tx};
    return;
}

sub end_if_done ($self) {
    $self->ioloop->stop if $self->{is_late} && !%{ $self->{connections} };
    return;
}

package Cameleer::Event::Mojo::Loop;

use v5.36;

# Mojo::IOLoop with the methods of IO::Async::Loop that a warm-up uses.

sub new ( $class, $loop ) { return bless { loop => $loop }, $class }

sub watch_io ( $self, %watch ) {
    $self->{loop}->reactor->io( $watch{handle}, sub { $watch{on_read_ready}->() } )->watch( $watch{handle}, 1, 0 );
    return;
}

sub unwatch_io ( $self, %watch ) { $self->{loop}->reactor->remove( $watch{handle} ); return }
sub watch_time ( $self, %watch ) { return $self->{loop}->timer( $watch{after} => sub { $watch{code}->() } ) }
sub unwatch_time ( $self, $id ) { $self->{loop}->remove($id); return }
sub run  ($self) { $self->{loop}->start; return }
sub stop ($self) { $self->{loop}->stop;  return }

1;

__END__

=head1 NAME

Cameleer::Event::Mojo::Server - a Mojo::Server::Daemon without a listening socket

=head1 DESCRIPTION

The connections of this server come from the front. C<< $c->tx->remote_address >>, the scheme of
C<< $c->req->url->base >>, C<< $c->req->request_id >> and C<REMOTE_USER> in C<< $c->req->env >> are those
of the client.

After the order to leave, the server finishes its requests. WebSockets that are still open at
the end of C<GracefulShutdownTimeout> are closed with status 1012, also at a stop of the server.

=cut
