package Cameleer::Event::PAGI;

use v5.36;
use Scalar::Util ();

use Cameleer::Event::PAGI::Check;
use Cameleer::Event::PAGI::State;
use Cameleer::Event::PAGI::Transport;
use Cameleer::Event::PAGI::Scope;
use Cameleer::Event::PAGI::Stream;
use Cameleer::Event::PAGI::Exchange;
use Cameleer::Event::PAGI::Http;
use Cameleer::Event::PAGI::Sse;
use Cameleer::Event::PAGI::WebSocket;
use Cameleer::Event::PAGI::Lifespan;

# How long an application may take for `lifespan.shutdown` where GracefulShutdownTimeout sets no limit, in seconds.
use constant SHUTDOWN_SECONDS => 30;
# How long idle streams of a worker that leaves stay open, in seconds: the front has stopped to choose the worker.
use constant LEAVE_SECONDS => 1;

my %KINDS = map { lc s/.*:://r => $_ } map { __PACKAGE__ . "::$_" } qw(Http Sse WebSocket);

# Whether a value is an application of PAGI: a sub of a file that uses Future::AsyncAwait, or an object of PAGI's classes.
sub accepts ( $class, $value ) {
    return 0 if !ref $value;
    my $is_application = Scalar::Util::blessed($value) && $value->can('to_app') ? ref($value) =~ /\APAGI::/ : eval { defined \&$value };
    return 0 if !$is_application || !$INC{'Future/AsyncAwait.pm'};
    require Future;
    eval { require IO::Async::Loop; 1 } or die "PAGI: an application needs IO::Async, of Debian's libio-async-perl: $@";
    return 1;
}

# A future that is ready. Nothing can be added to it, so that all share one.
sub done { return state $done = Future->done }

sub run ( $class, $value, $conf ) {
    my $app    = Scalar::Util::blessed($value) && $value->can('to_app') ? $value->to_app : $value;
    my $server = $class->new( $app, $conf );
    open my $orders, '<&=', Cameleer::Event::descriptor() or die "PAGI: the descriptor of orders: $!\n";
    $server->{loop}->watch_io(
        handle        => $orders,
        on_read_ready => sub {
            my ( $is_leaving, @descriptors ) = Cameleer::Event::orders();
            $server->add($_) for @descriptors;
            $server->leave if $is_leaving;
        }
    );
    $server->start or die "PAGI: the application has refused to start\n";
    Cameleer::Event::ready();
    $server->{loop}->run if !$server->{is_over};
    $server->stop;
    # The descriptor is the worker's.
    $server->{loop}->unwatch_io( handle => $orders, on_read_ready => 1 );
    state @keep;
    push @keep, $orders;
    return;
}

sub new ( $class, $app, $conf = {} ) {
    require Future;
    require IO::Async::Loop;
    # A client that has left ends a write with an error, and not the process.
    $SIG{PIPE} = 'IGNORE';
    my $loop = IO::Async::Loop->new;
    eval { require Future::IO; require Future::IO::Impl::IOAsync; 1 };
    return bless { app => $app, conf => $conf, loop => $loop, streams => {}, state => {} }, $class;
}

# Begins the application's lifespan. False if the application refuses to start.
sub start ($self) {
    my $lifespan = Cameleer::Event::PAGI::Lifespan->new( $self->{state}, $self->{conf} );
    $self->{lifespan} = $lifespan;
    $lifespan->start( $self->{app} );
    $self->{loop}->loop_once while !$lifespan->is_started;
    return !$lifespan->{has_refused};
}

# Ends the lifespan, within the time of a graceful stop.
sub stop ($self) {
    my $lifespan = $self->{lifespan};
    my $is_late  = 0;
    my $timer    = $self->{loop}->watch_time( after => $self->{conf}{graceful} || SHUTDOWN_SECONDS, code => sub { $is_late = 1 } );
    $lifespan->stop;
    $self->{loop}->loop_once while !$lifespan->is_stopped && !$is_late;
    warn "PAGI: the application has not sent lifespan.shutdown.complete in time\n" if $is_late;
    $self->{loop}->unwatch_time($timer) if !$is_late;
    return;
}

# Calls back when the application has had its turn.
sub later ( $self, $code ) {
    push @{ $self->{later} }, $code;
    return if @{ $self->{later} } > 1;
    $self->{loop}->later( sub { $_->() for @{ delete $self->{later} // [] } } );
    return;
}

# A new stream, from the number of its descriptor.
sub add ( $self, $descriptor ) {
    open my $handle, '+<&=', $descriptor or die "PAGI: descriptor $descriptor: $!\n";
    binmode $handle;
    $handle->blocking(0);
    my $stream = Cameleer::Event::PAGI::Stream->new( $self, $handle );
    $self->{streams}{ Scalar::Util::refaddr($stream) } = $stream;
    return $stream;
}

# A request: the application is called.
sub exchange ( $self, $stream, $scope, $own ) {
    my $kind = $KINDS{ $scope->{type} };
    $scope->{state} = { %{ $self->{state} } };
    $scope->{'pagi.transport'} = $stream->{transport} = Cameleer::Event::PAGI::Transport->new($stream);
    my $exchange = $kind->new( $stream, $scope );
    $stream->{exchange} = $exchange;
    $exchange->call( $self->{app}, $scope );
    return;
}

# A stream waits for its next request.
sub idle ( $self, $stream ) { return }

sub gone ( $self, $stream ) {
    delete $self->{streams}{ Scalar::Util::refaddr($stream) };
    $self->over if $self->{is_leaving} && !%{ $self->{streams} };
    return;
}

# No stream follows. Idle ones close after a moment, because requests may be on their way; the others when theirs is over,
# at the latest at the end of the time.
sub leave ($self) {
    return if $self->{is_leaving}++;
    return $self->over if !%{ $self->{streams} };
    $self->{loop}->watch_time( after => LEAVE_SECONDS, code => sub { $self->close_idle } );
    my $time = $self->{conf}{graceful} or return;
    # The master ends the worker at that time. Farewells and the end of the lifespan come before it.
    $self->{rest} = $time < 4 ? $time / 4 : 1;
    $self->{loop}->watch_time( after => $time - $self->{rest}, code => sub { $self->end } );
    return;
}

sub close_idle ($self) {
    $self->{is_late} = 1;
    for my $stream ( values %{ $self->{streams} } ) {
        $stream->close if !$stream->{exchange} && $stream->{in} eq '';
    }
    return;
}

sub end ($self) {
    for my $stream ( values %{ $self->{streams} } ) {
        my $exchange = $stream->{exchange};
        $exchange ? $exchange->leave : $stream->close;
    }
    # Output that no client takes is not waited for.
    $self->{loop}->watch_time( after => ( $self->{rest} // 1 ) / 2, code => sub { $self->over } );
    return;
}

sub over ($self) {
    return if $self->{is_over}++;
    $self->{loop}->stop;
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event::PAGI - applications of PAGI in the workers of an event pool

=head1 DESCRIPTION

Serves PAGI 0.3: the scopes C<http>, C<sse>, C<websocket> and C<lifespan>, C<pagi.connection>, C<pagi.transport>, and the
extensions C<fullflush>, C<tls> and C<websocket.http.response>. The event loop is L<IO::Async::Loop>, which L<Future::IO>
uses as well.

=head2 The value of the file

A code reference, if the file uses L<Future::AsyncAwait>, or an object of a class C<PAGI::*> that has the method C<to_app>.

=head2 Events out of order

C<$send> fails for C<http.response.body> before C<http.response.start>, and for a second start. It does nothing after the
end of the response.

=cut
