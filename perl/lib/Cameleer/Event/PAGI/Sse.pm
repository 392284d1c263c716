package Cameleer::Event::PAGI::Sse;

use v5.36;
use parent 'Cameleer::Event::PAGI::Http';

# A request of the scope `sse`: a stream of events, or a response instead of it.

my %EVENTS = (
    'sse.start'               => 'start_stream',
    'sse.send'                => 'send_event',
    'sse.comment'             => 'comment',
    'sse.keepalive'           => 'keepalive',
    'sse.close'               => 'end_stream',
    'sse.http.response.start' => 'decline',
    'sse.http.response.body'  => 'decline_body',
    'http.fullflush'          => 'fullflush',
);

sub events ($self) { return \%EVENTS }
sub scope_type     { return 'sse' }

sub disconnect_event ( $self, $reason ) { return { type => 'sse.disconnect', reason => $reason } }

sub start_stream ( $self, $event ) {
    $self->{is_declined} and Cameleer::Event::PAGI::Check::refused( $event, 'the request was declined' );
    my @headers = Cameleer::Event::PAGI::Check::headers($event);
    my %has     = map { $_->[0] => 1 } @headers;
    push @headers, [ 'content-type',  'text/event-stream' ] if !$has{'content-type'};
    push @headers, [ 'cache-control', 'no-cache' ]          if !$has{'cache-control'};
    @headers = grep { $_->[0] ne 'content-length' } @headers;
    $self->start( { type => $event->{type}, status => $event->{status} // 200, headers => \@headers } );
    $self->{is_stream} = 1;
    # The end of the stream ends the client's connection as well.
    $self->{head} .= "connection: close\r\n" if !$self->{stream}{closes}++;
    return;
}

sub needs_stream ( $self, $event ) {
    $self->{is_declined} and Cameleer::Event::PAGI::Check::refused( $event, 'the request was declined' );
    $self->{is_stream} or Cameleer::Event::PAGI::Check::refused( $event, 'the stream has not started' );
    $self->{is_ended} and Cameleer::Event::PAGI::Check::refused( $event, 'the stream is closed' );
    return;
}

sub send_event ( $self, $event ) {
    my $text = '';
    for my $name ( grep { defined $event->{$_} } qw(event id) ) {
        $text .= "$name: " . Cameleer::Event::PAGI::Check::line( $event, $name ) . "\n";
    }
    $text .= 'retry: ' . Cameleer::Event::PAGI::Check::integer( $event, 'retry' ) . "\n" if defined $event->{retry};
    my $data = Cameleer::Event::PAGI::Check::utf8( Cameleer::Event::PAGI::Check::text( $event, 'data' ) );
    $text .= "data: $_\n" for $data eq '' ? '' : split /\r\n|\n|\r/, $data, -1;
    $self->needs_stream($event);
    $self->piece( "$text\n", 1 );
    return $self->drain;
}

sub comment ( $self, $event ) {
    my $text = comment_text( Cameleer::Event::PAGI::Check::text( $event, 'comment' ) );
    $self->needs_stream($event);
    $self->piece( $text, 1 );
    return $self->drain;
}

# Each line of a comment begins with a colon.
sub comment_text ($comment) {
    my @lines = split /\r\n|\n|\r/, Cameleer::Event::PAGI::Check::utf8($comment), -1;
    @lines = ('') if !@lines;
    return join( '', map { /\A:/ ? "$_\n" : ":$_\n" } @lines ) . "\n";
}

sub keepalive ( $self, $event ) {
    my $interval = Cameleer::Event::PAGI::Check::seconds( $event, 'interval' );
    my $text     = comment_text( Cameleer::Event::PAGI::Check::text( $event, 'comment', '' ) );
    $self->needs_stream($event);
    # A client that does not read gets no comments.
    $self->every( $interval, sub { $self->piece( $text, 1 ) if !$self->{stream}->waiting } );
    return;
}

sub end_stream ( $self, $event ) {
    my $reason = Cameleer::Event::PAGI::Check::text( $event, 'reason', '' );
    return if $self->{is_ended};
    $self->needs_stream($event);
    $self->{reason} = $reason;
    $self->end;
    return;
}

sub end ($self) {
    $self->{is_ended} = 1;
    $self->every( 0, undef );
    $self->piece( '', 0 );
    return;
}

# After `sse.close` further events of the stream are errors, although the exchange is over.
sub send ( $self, $event ) {
    if ( $self->{is_ended} && ref $event eq 'HASH' && ( $event->{type} // '' ) =~ /\Asse\.(?:send|comment|keepalive)\z/ ) {
        return Future->fail("PAGI: $event->{type}: the stream is closed\n");
    }
    return $self->SUPER::send($event);
}

sub decline ( $self, $event ) {
    $self->{is_stream} and Cameleer::Event::PAGI::Check::refused( $event, 'the stream has started' );
    $self->start( { %$event, trailers => 0 } );
    $self->{is_declined} = 1;
    return;
}

sub decline_body ( $self, $event ) {
    $self->{is_stream} and Cameleer::Event::PAGI::Check::refused( $event, 'the stream has started' );
    return $self->write_body( { type => $event->{type}, body => $event->{body}, more => $event->{more} } );
}

sub finish ($self) {
    $self->over or return;
    $self->deliver_last( $self->disconnect_event( $self->{reason} // '' ) ) if !$self->{is_declined};
    my $stream = delete $self->{stream};
    $stream->next($self);
    return;
}

sub returned ($self) {
    return $self->SUPER::returned if !$self->{is_stream} || $self->{is_over} || $self->{is_ended};
    return $self->end;
}

1;
