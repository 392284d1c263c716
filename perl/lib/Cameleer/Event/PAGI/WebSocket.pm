package Cameleer::Event::PAGI::WebSocket;

use v5.36;
use parent 'Cameleer::Event::PAGI::Exchange';

# A request of the scope `websocket`. The front does the handshake with the client, checks frames and texts, and answers
# pings. Towards it a message is a byte for its kind, its length as four bytes, and its payload.

use constant { TEXT => 1, BINARY => 2, CLOSE => 8, DISCONNECTED => 9, KEEPALIVE => 10 };

my %EVENTS = (
    'websocket.accept'              => 'accept',
    'websocket.send'                => 'message',
    'websocket.close'               => 'close',
    'websocket.keepalive'           => 'keepalive',
    'websocket.http.response.start' => 'deny',
    'websocket.http.response.body'  => 'deny_body',
);

sub events ($self) { return \%EVENTS }

sub new ( $class, $stream, $scope ) {
    my $self = Cameleer::Event::PAGI::Exchange::new( $class, $stream, $scope );
    $self->deliver( { type => 'websocket.connect' } );
    return $self;
}

# A request for an upgrade has no body.
sub body ( $self, $piece, $more ) { return }

sub accept ( $self, $event ) {
    my @headers  = Cameleer::Event::PAGI::Check::headers($event);
    my $protocol = $event->{subprotocol};
    if ( defined $protocol ) {
        !ref $protocol && $protocol =~ /\A[!#\$%&'*+.^_`|~0-9A-Za-z-]+\z/ or Cameleer::Event::PAGI::Check::refused( $event, 'subprotocol is not a token' );
        push @headers, [ 'sec-websocket-protocol', $protocol ];
    }
    $self->{is_raw} || defined $self->{denial} and Cameleer::Event::PAGI::Check::refused( $event, 'the handshake is over' );
    my $head = Cameleer::Event::PAGI::Exchange::head( 101, grep { $_->[0] !~ /\Acameleer-/ } @headers );
    $self->{is_raw} = 1;
    $self->{stream}->write("${head}upgrade: websocket\r\nconnection: Upgrade\r\ncameleer-websocket: frames\r\n\r\n");
    return;
}

sub message ( $self, $event ) {
    my ( $text, $bytes ) = @$event{qw(text bytes)};
    defined $text xor defined $bytes or Cameleer::Event::PAGI::Check::refused( $event, 'exactly one of text and bytes is needed' );
    my ( $kind, $payload ) =
      defined $text
      ? ( TEXT,   Cameleer::Event::PAGI::Check::utf8( Cameleer::Event::PAGI::Check::text( $event, 'text' ) ) )
      : ( BINARY, Cameleer::Event::PAGI::Check::bytes( $event, 'bytes' ) );
    $self->{is_raw} or Cameleer::Event::PAGI::Check::refused( $event, 'the connection is not accepted' );
    return if $self->{is_closing};
    $self->frame( $kind, $payload );
    return $self->drain;
}

sub frame ( $self, $kind, $payload ) {
    return $self->{stream}->write( pack 'C N/a*', $kind, $payload );
}

sub close ( $self, $event ) {
    my $code   = Cameleer::Event::PAGI::Check::integer( $event, 'code', 1000 );
    my $reason = Cameleer::Event::PAGI::Check::utf8( Cameleer::Event::PAGI::Check::text( $event, 'reason', '' ) );
    $code == 1000 || $code >= 1001 && $code <= 1003 || $code >= 1007 && $code <= 1014 || $code >= 3000 && $code <= 4999
      or Cameleer::Event::PAGI::Check::refused( $event, "code is $code, which no close frame can have" );
    length $reason <= 123 or Cameleer::Event::PAGI::Check::refused( $event, 'reason has more than 123 bytes' );
    return if $self->{is_closing} || defined $self->{denial};
    return $self->refuse(403) if !$self->{is_raw};
    $self->{is_closing} = 1;
    return $self->frame( CLOSE, pack( 'n', $code ) . $reason );
}

# The front sends the pings, each `interval` milliseconds, and disconnects a client that does not answer in time.
sub keepalive ( $self, $event ) {
    my $interval = Cameleer::Event::PAGI::Check::seconds( $event, 'interval' );
    my $timeout  = Cameleer::Event::PAGI::Check::seconds( $event, 'timeout', 0 );
    $self->{is_raw} or Cameleer::Event::PAGI::Check::refused( $event, 'the connection is not accepted' );
    return if $self->{is_closing};
    return $self->frame( KEEPALIVE, pack 'N N', map { milliseconds($_) } $interval, $timeout );
}

sub milliseconds ($seconds) {
    return $seconds >= 4_000_000 ? 4_000_000_000 : $seconds > 0 && $seconds < 0.001 ? 1 : int( $seconds * 1000 );
}

# A response instead of the handshake.
sub deny ( $self, $event ) {
    my $status  = Cameleer::Event::PAGI::Check::status($event);
    my @headers = Cameleer::Event::PAGI::Check::headers($event);
    return if $self->{is_raw} || defined $self->{denial};
    $self->{denial} = Cameleer::Event::PAGI::Exchange::head( $status, grep { $_->[0] ne 'content-length' } @headers );
    $self->{content} = '';
    $self->{is_bodyless} = $status == 204 || $status == 304;
    return;
}

sub deny_body ( $self, $event ) {
    my $body = Cameleer::Event::PAGI::Check::bytes( $event, 'body' );
    my $more = Cameleer::Event::PAGI::Check::integer( $event, 'more', 0 );
    return if $self->{is_raw} || $self->{is_answered};
    defined $self->{denial} or Cameleer::Event::PAGI::Check::refused( $event, 'the response has not started' );
    $self->{content} .= $body;
    return if $more;
    return $self->answered( $self->{denial}
          . ( $self->{is_bodyless} ? "\r\n" : 'content-length: ' . length( $self->{content} ) . "\r\n\r\n$self->{content}" ) );
}

sub refuse ( $self, $status ) {
    return if $self->{is_answered};
    $self->{denial} = '';
    $self->plain($status);
    return $self->answered('');
}

# The handshake was refused, and the stream serves the next request. Until the response is written, the application may
# send further events or fail: a second response would be that of the next request.
sub answered ( $self, $output ) {
    $self->{is_answered} = 1;
    $self->{stream}->write($output);
    $self->{stream}->flushed(
        sub {
            $self->over or return;
            my $stream = delete $self->{stream};
            # There was no connection, and so there is no disconnect: what still waits for an event is cancelled.
            $self->{is_denied} = 1;
            $_->cancel for splice @{ $self->{waiting} };
            $stream->next($self);
        }
    );
    return;
}

sub receive ($self) {
    my $future = Cameleer::Event::PAGI::Exchange::receive($self);
    $future->cancel if $self->{is_denied};
    return $future;
}

# Frames of the front.
sub raw ( $self, $in ) {
    return 0 if length $$in < 5 || $self->is_full;
    my ( $kind, $length ) = unpack 'C N', $$in;
    return 0 if length $$in < 5 + $length;
    my $payload = substr $$in, 5, $length;
    substr $$in, 0, 5 + $length, '';
    if ( $kind == TEXT ) {
        utf8::decode($payload);
        $self->deliver( { type => 'websocket.receive', text => $payload } );
    }
    elsif ( $kind == BINARY ) {
        $self->deliver( { type => 'websocket.receive', bytes => $payload } );
    }
    elsif ( $kind == CLOSE || $kind == DISCONNECTED ) {
        my ( $code, $reason ) = length $payload >= 2 ? unpack 'n a*', $payload : ( 1005, '' );
        utf8::decode($reason);
        $self->over_with( $code, $reason );
        return 0;
    }
    return 1;
}

# The connection is over. What the client has sent before is received first.
sub over_with ( $self, $code, $reason ) {
    my @left = splice @{ $self->{events} };
    $self->over or return;
    $self->{events} = \@left;
    my $stream = delete $self->{stream};
    $self->deliver_last( { type => 'websocket.disconnect', code => $code, reason => $reason } );
    $stream->close if $stream;
    return;
}

sub lost ( $self, $reason ) { return $self->over_with( 1006, $reason ) }

# The server stops, and its time is over: the client may connect again.
sub leave ($self) {
    return $self->refuse(503) if !$self->{is_raw} && !$self->{is_answered};
    $self->frame( CLOSE, pack 'n', 1012 ) if $self->{is_raw} && !$self->{is_closing};
    $self->{is_closing} = 1;
    $self->{stream}->flushed( sub { $self->over_with( 1006, 'server_shutdown' ) } );
    return;
}

sub returned ($self) {
    return if $self->{is_over} || $self->{is_closing};
    return $self->frame_close(1000) if $self->{is_raw};
    return if $self->{is_answered};
    return $self->failed("the application returned without accepting or refusing the connection\n");
}

sub failed ( $self, $error ) {
    return if $self->{is_denied};
    $self->report($error);
    return if $self->{is_over} || $self->{is_closing};
    return $self->frame_close(1011) if $self->{is_raw};
    return $self->refuse(500);
}

sub frame_close ( $self, $code ) {
    $self->{is_closing} = 1;
    return $self->frame( CLOSE, pack 'n', $code );
}

1;
