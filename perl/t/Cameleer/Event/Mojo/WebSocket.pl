# Cameleer::Event::Mojo::WebSocket: exchanges messages with the front; run by packages.t

use v5.36;
use Mojo::Transaction::HTTP      ();
use Mojo::Transaction::WebSocket ();

sub My::Event::websocket ($extensions = undef) {
    my $handshake = Mojo::Transaction::HTTP->new;
    $handshake->req->headers->sec_websocket_extensions($extensions) if defined $extensions;
    return Cameleer::Event::Mojo::WebSocket->take_over( Mojo::Transaction::WebSocket->new( handshake => $handshake ) );
}

sub My::Event::dies ($code) { return eval { $code->(); 'lives' } // $@ =~ s/ at .*//sr }

return {
    a_message_is_a_kind_a_length_and_bytes => [
        sub ($r) { My::Event::websocket()->send("\x{e9}")->server_write },
        "\x01\0\0\0\x02\xc3\xa9"
    ],
    the_limit_and_compression_are_sent_to_the_front => [
        sub ($r) {
            my $websocket = My::Event::websocket('permessage-deflate')->max_websocket_size(7);
            $websocket->with_compression;
            $websocket->accepted->res->headers->header('Cameleer-WebSocket');
        },
        'frames; control; max=7; deflate'
    ],
    a_compression_that_nobody_offers_is_not_sent => [
        sub ($r) {
            my $websocket = My::Event::websocket()->max_websocket_size(7);
            $websocket->with_compression;
            $websocket->accepted->res->headers->header('Cameleer-WebSocket');
        },
        'frames; control; max=7'
    ],
    frames_are_read_whatever_their_pieces => [
        sub ($r) {
            my ( $websocket, @got ) = My::Event::websocket();
            $websocket->on( message => sub ( $websocket, $message ) { push @got, $message } );
            $websocket->server_read($_) for split //, "\x01\0\0\0\x02\xc3\xa9\x02\0\0\0\0\x01\0\0\0\x01x";
            join '|', map { sprintf '%vd', $_ } @got;
        },
        '233||120'
    ],
    a_close_reason_is_cut_at_the_end_of_a_character => [
        sub ($r) {
            join '|', map { length( My::Event::websocket()->finish( 4001, $_ )->server_write ) - 7 }
              'a' x 123, 'a' x 124, "\x{20ac}" x 41, 'a' . "\x{20ac}" x 41, 'aa' . "\x{20ac}" x 41, "\x{1f42a}" x 31;
        },
        '123|123|123|121|122|120'
    ],
    an_extension_of_the_program_counts_before_the_handshake_is_accepted => [
        sub ($r) {
            my $websocket = My::Event::websocket();
            $websocket->res->headers->sec_websocket_extensions('x-own');
            $websocket->send('x')->server_write;
        },
        "\x81\x01x"
    ],
    reserved_bits_are_an_error => [
        sub ($r) {
            My::Event::dies( sub { My::Event::websocket()->send( [ 1, 1, 0, 0, 1, 'x' ] ) } );
        },
        'a frame with reserved bits needs a Sec-WebSocket-Extensions field of the program'
    ],
    an_unknown_opcode_is_an_error => [
        sub ($r) {
            My::Event::dies( sub { My::Event::websocket()->send( [ 1, 0, 0, 0, 5, 'x' ] ) } );
        },
        'a frame with the opcode 5, which RFC 6455 does not have'
    ],
};
