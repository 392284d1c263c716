package Cameleer::Event::Mojo::WebSocket;

use Mojo::Base 'Mojo::Transaction::WebSocket', -signatures;

use Carp            ();
use Mojo::WebSocket qw(WS_BINARY WS_CLOSE WS_CONTINUATION WS_PING WS_PONG WS_TEXT);

# Kinds of frames between the front and a worker.
use constant { TEXT => 1, BINARY => 2, CLOSE => 8, DISCONNECTED => 9, PING => 11, PONG => 12 };

my %KIND_OF_OPCODE = ( WS_TEXT, TEXT, WS_BINARY, BINARY, WS_CLOSE, CLOSE, WS_PING, PING, WS_PONG, PONG );
my %OPCODE_OF_KIND = reverse %KIND_OF_OPCODE;

# Length of the kind and the length before the payload of a frame.
my $HEADER = 5;

# Longest payload of a control frame (RFC 6455, section 5.5).
my $MAX_CONTROL = 125;

# Code of a connection that has ended without a close frame.
my $ABNORMAL = 1006;

# Leaves the protocol to the front, unless the program has agreed on an extension that the front does not know.
sub take_over ( $class, $websocket ) {
    return if ref $websocket ne 'Mojo::Transaction::WebSocket';
    return bless $websocket, $class;
}

# The handshake is accepted: the front learns of the program's limits. With an extension of the program's own, the
# transaction speaks the protocol itself.
sub accepted ($self) {
    my $headers = $self->res->headers;
    return bless $self, 'Mojo::Transaction::WebSocket' if $headers->sec_websocket_extensions;
    my @parameters = ( 'frames', 'control', 'max=' . $self->max_websocket_size, $self->compressed ? 'deflate' : () );
    $headers->header( 'Cameleer-WebSocket' => join '; ', @parameters );
    return $self;
}

# The front compresses, so messages stay as they are.
sub build_message ( $self, $message ) {
    local $self->{compressed} = 0;
    return $self->SUPER::build_message($message);
}

sub with_compression ($self) {
    my $offered = $self->req->headers->sec_websocket_extensions // '';
    return $self->compressed(1) if $offered =~ /permessage-deflate/;
    return;
}

sub send ( $self, $message, $sent = undef ) {
    # A program may send before the handshake is accepted.
    if ( !$self->established && $self->res->headers->sec_websocket_extensions ) {
        return ( bless $self, 'Mojo::Transaction::WebSocket' )->send( $message, $sent );
    }
    $self->once( drain => $sent ) if $sent;
    $message = $self->build_message($message) if ref $message ne 'ARRAY';
    $self->{write} .= $self->frame(@$message);
    return $self->emit('resume');
}

# A frame of the protocol as one for the front. Parts of a message are kept until its last one.
sub frame ( $self, $is_last, $rsv1, $rsv2, $rsv3, $opcode, $payload ) {
    Carp::croak 'a frame with reserved bits needs a Sec-WebSocket-Extensions field of the program'
      if $rsv1 || $rsv2 || $rsv3;
    if ( $opcode == WS_CONTINUATION || !$is_last ) {
        $self->{part_opcode} //= $opcode;
        $self->{part} .= $payload;
        return '' if !$is_last;
        ( $opcode, $payload ) = ( delete $self->{part_opcode}, delete $self->{part} );
    }
    my $kind = $KIND_OF_OPCODE{$opcode} // Carp::croak "a frame with the opcode $opcode, which RFC 6455 does not have";
    $payload = shortened( $opcode, $payload ) if $opcode >= WS_CLOSE;
    return pack( 'CN', $kind, length $payload ) . $payload;
}

# The payload of a control frame. The reason of a close frame is UTF-8, and is cut at the end of a character.
sub shortened ( $opcode, $payload ) {
    return $payload if length $payload <= $MAX_CONTROL;
    my ( $kept, $next ) = unpack "a$MAX_CONTROL a", $payload;
    $kept =~ s/[\xc0-\xff][\x80-\xbf]*\z// if $opcode == WS_CLOSE && $next =~ /[\x80-\xbf]/;
    return $kept;
}

sub server_read ( $self, $chunk ) {
    $self->{read} .= $chunk;
    while ( length $self->{read} >= $HEADER ) {
        my ( $kind, $length ) = unpack 'CN', $self->{read};
        last if length $self->{read} < $HEADER + $length;
        my $payload = substr $self->{read}, $HEADER, $length;
        substr $self->{read}, 0, $HEADER + $length, '';
        $self->take( $kind, $payload );
    }
    return $self->emit('resume');
}

sub take ( $self, $kind, $payload ) {
    return $self->disconnected($payload) if $kind == DISCONNECTED;
    my $frame = [ 1, 0, 0, 0, $OPCODE_OF_KIND{$kind}, $payload ];
    # The front has answered it.
    return $self->emit( frame => $frame ) if $kind == PING;
    return $self->parse_message($frame);
}

# The client has left, or violated the protocol. The stream ends after this.
sub disconnected ( $self, $payload ) {
    my $code = unpack 'n', $payload;
    $self->{close} //= [$code] if $code != $ABNORMAL;
    $self->{closing} = 1;
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event::Mojo::WebSocket - a WebSocket whose protocol the front speaks

=head1 DESCRIPTION

A L<Mojo::Transaction::WebSocket> that exchanges messages with the front instead of frames with the client. The front
checks frames and UTF-8, takes masks away, compresses, and answers pings. Programs use it as any transaction:
C<send>, C<finish>, C<max_websocket_size>, C<with_compression>, C<with_protocols>, and the events C<text>, C<binary>,
C<message>, C<json>, C<frame>, C<drain> and C<finish>.

The event C<frame> has whole messages. A message that is sent in parts reaches the client when its last part is sent.
A program that sets C<Sec-WebSocket-Extensions> itself speaks the protocol itself.

=cut
