package Cameleer::Event::Server;

use v5.36;
use IO::Handle   ();
use Scalar::Util ();

use Cameleer::Event::Stream ();

# How long idle streams of a worker that leaves stay open, in seconds: the front has stopped to choose the worker. At a
# stop, the process is killed after a second.
use constant LEAVE_SECONDS => 0.25;

# A worker's streams and its loop. A class for a kind of application has these methods:
#
#     loop                                           the loop, with the methods of IO::Async::Loop
#     application($value)                            the application, from the value of its file
#     start, stop                                    before the first and after the last request; false: no start
#     exchange($stream, $method, $target, $fields)   a request

sub application ( $class, $value ) { return $value }
sub start       ($self)            { return 1 }
sub stop        ($self)            { return }

sub run ( $class, $value, $conf ) {
    my $server = $class->new( $class->application($value), $conf );
    open my $orders, '<&=', Cameleer::Event::descriptor() or die "the descriptor of orders: $!\n";
    $server->{loop}->watch_io(
        handle        => $orders,
        on_read_ready => sub {
            my ( $what, @descriptors ) = Cameleer::Event::orders();
            $server->add($_) for @descriptors;
            $server->leave if $what & 1;
            return         if !( $what & 2 );
            $server->{loop}->unwatch_io( handle => $orders, on_read_ready => 1 );
            $server->close_idle;
        }
    );
    $server->start or die "the application has refused to start\n";
    if ( @{ $conf->{warm_up} // [] } ) {
        require Cameleer::Event::WarmUp;
        my $add = sub ($descriptor) { $server->add($descriptor) };
        Cameleer::Event::WarmUp->run( $server->{loop}, $add, $conf, sub ($error) { $server->failed($error) } );
    }
    Cameleer::Event::ready();
    $server->tick;
    $server->turn;
    $server->stop;
    # The descriptor is the worker's.
    $server->{loop}->unwatch_io( handle => $orders, on_read_ready => 1 );
    state @keep;
    push @keep, $orders;
    return;
}

# Once a second.
sub tick ($self) {
    # First, so that the ticks go on after an exception.
    $self->{loop}->watch_time( after => 1, code => sub { $self->tick } );
    Cameleer::Event::tick();
    return;
}

# Runs the loop. An exception of a callback leaves some loops; the requests of other clients go on.
sub turn ($self) {
    while ( !$self->{is_over} ) {
        return if eval { $self->{loop}->run; 1 };
        $self->failed($@);
    }
    return;
}

# An exception has left the loop, which may have lost its next turn.
sub failed ( $self, $error ) {
    warn $error;
    $self->call_later if $self->{later};
    return;
}

sub new ( $class, $app, $conf = {} ) {
    # A client that has left ends a write with an error, and not the process.
    $SIG{PIPE} = 'IGNORE';
    return bless { app => $app, conf => $conf, loop => $class->loop, streams => {} }, $class;
}

# Calls back when the application has had its turn.
sub later ( $self, $code ) {
    push @{ $self->{later} }, $code;
    $self->call_later if @{ $self->{later} } == 1;
    return;
}

sub call_later ($self) {
    $self->{loop}->later(
        sub {
            for my $code ( @{ delete $self->{later} // [] } ) {
                eval { $code->(); 1 } or warn $@;
            }
        }
    );
    return;
}

# A new stream, from the number of its descriptor.
sub add ( $self, $descriptor ) {
    open my $handle, '+<&=', $descriptor or die "descriptor $descriptor: $!\n";
    binmode $handle;
    $handle->blocking(0);
    my $stream = Cameleer::Event::Stream->new( $self, $handle );
    $self->{streams}{ Scalar::Util::refaddr($stream) } = $stream;
    return $stream;
}

sub gone ( $self, $stream ) {
    delete $self->{streams}{ Scalar::Util::refaddr($stream) };
    $self->over if $self->{is_late} && !%{ $self->{streams} };
    return;
}

# No stream follows, but those that other threads of the front send now. Idle ones close after a moment, because requests
# may be on their way; the others when theirs is over, at the latest at the end of the time.
sub leave ($self) {
    return if $self->{is_leaving}++;
    $self->{loop}->watch_time( after => LEAVE_SECONDS, code => sub { $self->close_idle } );
    my $time = $self->{conf}{graceful} or return;
    # The master ends the worker at that time. WebSockets and the application end before that.
    $self->{rest} = $time < 4 ? $time / 4 : 1;
    $self->{loop}->watch_time( after => $time - $self->{rest}, code => sub { $self->end } );
    return;
}

# The front sends no more: its time is over, or it has ended.
sub close_idle ($self) {
    $self->{is_late} = 1;
    for my $stream ( values %{ $self->{streams} } ) {
        $stream->close if !$stream->{exchange} && $stream->{in} eq '';
    }
    $self->over if !%{ $self->{streams} };
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
