package Cameleer::Event::PAGI::Exchange;

use v5.36;

use Cameleer::Event::Status ();

# One call of the application: its events in both directions. Http, Sse and WebSocket are the kinds.

use constant { MAX_QUEUED_BYTES => 65_536, MAX_QUEUED_EVENTS => 64 };

sub new ( $class, $stream, $scope ) {
    return bless { stream => $stream, events => [], waiting => [], queued => 0 }, $class;
}

# Calls the application. The future holds this object until it is ready.
sub call ( $self, $app, $scope ) {
    $self->{turn}++;
    my $future = eval { $app->( $scope, sub { $self->receive }, sub ($event) { $self->send($event) } ) };
    my $error  = $@;
    if ( !ref $future || !eval { $future->can('on_ready') } ) {
        $self->failed( $error ne '' ? $error : "the application returned no Future\n" );
        return $self->turn_over;
    }
    $self->{app} = $future;
    $future->on_ready(
        sub ($future) {
            delete $self->{app};
            return $self->cancelled if $future->is_cancelled;
            return $future->is_failed ? $self->failed( ( $future->failure )[0] ) : $self->returned;
        }
    );
    return $self->turn_over;
}

sub cancelled ($self) {
    return $self->{is_over} ? undef : $self->failed("the application's Future was cancelled\n");
}

# The application has had its turn: what it has begun is sent.
sub turn_over ($self) {
    $self->fullflush if !--$self->{turn} && defined $self->{head};
    return;
}

sub receive ($self) {
    if ( my $event = shift @{ $self->{events} } ) {
        $self->{queued} -= size($event);
        $self->resume if $self->{is_paused};
        return Future->done($event);
    }
    return Future->done( { %{ $self->{last} } } ) if $self->{last};
    my $future = Future->new;
    # A future that lost a race was cancelled, and takes no event.
    my $waiting = $self->{waiting};
    @$waiting = grep { !$_->is_ready } @$waiting if @$waiting;
    push @$waiting, $future;
    $self->resume if $self->{is_paused};
    return $future;
}

sub deliver ( $self, $event ) {
    while ( my $future = shift @{ $self->{waiting} } ) {
        next if $future->is_ready;
        $self->{turn}++;
        $future->done($event);
        return $self->turn_over;
    }
    push @{ $self->{events} }, $event;
    $self->{queued} += size($event);
    return;
}

sub size ($event) {
    return length( $event->{body} // '' ) + length( $event->{text} // $event->{bytes} // '' );
}

# Delivers the last event, which each later call of `$receive` gets again.
sub deliver_last ( $self, $event ) {
    return if $self->{last};
    $self->{last} = $event;
    for my $future ( splice @{ $self->{waiting} } ) {
        $future->done( {%$event} ) if !$future->is_ready;
    }
    return;
}

# Whether the application has to read first.
sub is_full ($self) {
    my $is_full = $self->{queued} > MAX_QUEUED_BYTES || @{ $self->{events} } > MAX_QUEUED_EVENTS;
    if ($is_full) {
        $self->{is_paused} = 1;
        $self->{stream}->pause(1);
    }
    return $is_full;
}

sub resume ($self) {
    return unless $self->{is_paused} && $self->{queued} <= MAX_QUEUED_BYTES / 2;
    $self->{is_paused} = 0;
    my $stream = $self->{stream} or return;
    $stream->pause(0);
    # Not at once: the application is being called.
    $stream->{server}->later( sub { $stream->advance if !$stream->{is_closed} } );
    return;
}

# `$send`: an event that the kind of the scope does not have is an error, as is a field that is wrong. After the end of
# the connection nothing happens.
sub send ( $self, $event ) {
    return Cameleer::Event::PAGI::done() if $self->{is_over};
    my $sent = eval {
        my $type   = Cameleer::Event::PAGI::Check::type($event);
        my $method = $self->events->{$type} or die "PAGI: an application must not send $type here\n";
        $self->$method($event) // Cameleer::Event::PAGI::done();
    };
    return $sent // Future->fail($@);
}

# A future that is ready when the client has taken what was sent.
sub drain ($self) {
    my $stream = $self->{stream};
    return Cameleer::Event::PAGI::done() if !$stream || !$stream->is_high;
    my $future = Future->new;
    $stream->on_low( sub { $future->done if !$future->is_ready } );
    return $future;
}

# The head of a response: its status and its fields, without those that are the connection's. An application may ask the
# front to hold its response.
sub head ( $status, @headers ) {
    my $head = "HTTP/1.1 $status " . Cameleer::Event::Status::reason($status) . "\r\n";
    for my $header (@headers) {
        my ( $name, $value ) = @$header;
        next if $name =~ /\A(?:connection|transfer-encoding|keep-alive|upgrade|cameleer-(?!(?:hold|channel)\z).*)\z/s;
        $head .= "$name: $value\r\n";
    }
    return $head;
}

# A whole response of the server itself.
sub plain ( $self, $status ) {
    my $text = Cameleer::Event::Status::reason($status) . "\n";
    my $head = head( $status, [ 'content-type', 'text/plain' ], [ 'content-length', length $text ] );
    $head .= "connection: close\r\n" if $self->{stream}{closes};
    $self->{stream}->write("$head\r\n$text");
    return;
}

# Warns about an application. The text of an exception ends its own line.
sub report ( $self, $what ) {
    warn 'PAGI: ' . $what . ( $what =~ /\n\z/ ? '' : "\n" );
    return;
}

# A timer that calls `then` each `interval` seconds; 0 stops it.
sub every ( $self, $interval, $then ) {
    my $loop = $self->{stream}{server}{loop};
    if ( my $timer = delete $self->{timer} ) { $loop->unwatch_time($timer) }
    return unless $interval > 0;
    $self->{timer} = $loop->watch_time(
        after => $interval,
        code  => sub {
            delete $self->{timer};
            $then->();
            $self->every( $interval, $then ) if !$self->{is_over};
        }
    );
    return;
}

# The end of this object's way: no timer runs, and the stream is no longer its own.
sub over ($self) {
    return 0 if $self->{is_over}++;
    if ( my $timer = delete $self->{timer} ) { $self->{stream}{server}{loop}->unwatch_time($timer) }
    delete $self->{events};
    $self->{events} = [];
    return 1;
}

1;
