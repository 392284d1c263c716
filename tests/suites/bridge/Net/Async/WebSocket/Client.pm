package Net::Async::WebSocket::Client;

# A stand-in for the class of that name, which is not in Debian: a client of WebSockets for IO::Async, as far as the tests of
# PAGI-Server call it.

use v5.36;
use parent 'IO::Async::Stream';
use Protocol::WebSocket::Client ();
use Protocol::WebSocket::URL    ();

our $VERSION = '0.13';

my @CALLBACKS = qw(on_text_frame on_binary_frame on_frame on_close_frame on_ping_frame on_pong_frame);

sub configure ( $self, %arguments ) {
    for my $name (@CALLBACKS) {
        $self->{"ws_$name"} = delete $arguments{$name} if exists $arguments{$name};
    }
    return $self->SUPER::configure(%arguments);
}

sub connect ( $self, %arguments ) {
    my $url    = Protocol::WebSocket::URL->new->parse( $arguments{url} );
    my $client = $self->{client} = Protocol::WebSocket::Client->new( url => $arguments{url} );
    my $opened = $self->{opened} = $self->loop->new_future;
    # Frames keep their kind here: Protocol::WebSocket::Client decodes all.
    $client->{on_write} = sub ( $of, $bytes ) { $self->write($bytes) };
    my $connected = $self->SUPER::connect( host => $arguments{host} // $url->host, service => $arguments{service} // $url->port, socktype => 'stream' );
    return $connected->then( sub { $client->connect; return $opened } );
}

sub on_read ( $self, $buffer, $is_end ) {
    my $client = $self->{client};
    my $shake  = $client->{hs};
    if ( !$shake->is_done ) {
        # parse consumes what is the head's.
        if ( !$shake->parse($$buffer) || $shake->error ) {
            $self->{opened}->fail( 'handshake: ' . ( $shake->error // 'invalid' ) );
            return 0;
        }
        $self->{opened}->done($self) if $shake->is_done && !$self->{opened}->is_ready;
    }
    my $frames = $self->{frames} //= Protocol::WebSocket::Frame->new( max_payload_size => 0, max_fragments_amount => 1e9 );
    if ( $shake->is_done ) {
        $frames->append($$buffer);
        while ( defined( my $bytes = $frames->next_bytes ) ) { $self->frame( $frames, $bytes ) }
    }
    return 0;
}

sub frame ( $self, $frames, $bytes ) {
    my $kind = { 1 => 'text', 2 => 'binary', 8 => 'close', 9 => 'ping', 10 => 'pong' }->{ $frames->opcode } // return;
    $bytes = Encode::decode( 'UTF-8', $bytes ) if $kind eq 'text';
    $self->event( 'on_frame', $frames, $bytes );
    $self->event( "on_${kind}_frame", $bytes );
    $self->send( 'pong', $bytes ) if $kind eq 'ping';
    return;
}

sub event ( $self, $name, @arguments ) {
    my $code = $self->{"ws_$name"} or return;
    $code->( $self, @arguments );
    return;
}

sub send ( $self, $type, $bytes ) {
    my $frame = Protocol::WebSocket::Frame->new( buffer => $bytes, type => $type, masked => 1, max_payload_size => 0 );
    return $self->write( $frame->to_bytes );
}

sub send_text_frame   ( $self, $text, @ )  { return $self->send( 'text',   Encode::encode( 'UTF-8', $text ) ) }
sub send_binary_frame ( $self, $bytes, @ ) { return $self->send( 'binary', $bytes ) }
sub send_close_frame  ( $self, $bytes = '', @ ) { return $self->send( 'close', $bytes ) }
sub send_ping_frame   ( $self, $bytes = '', @ ) { return $self->send( 'ping', $bytes ) }

1;
