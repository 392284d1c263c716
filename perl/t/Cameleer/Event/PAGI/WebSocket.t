# The scope `websocket`: the handshake, and the frames between the front and the worker.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}
use Future::AsyncAwait;

my ( $scope, @said, @then );

# Accepts, sends events, notes the errors of those that fail, then receives until the end.
my $app = async sub ( $asked, $receive, $send ) {
    die "no $asked->{type}\n" if $asked->{type} ne 'websocket';
    $scope = $asked;
    push @said, ( await $receive->() )->{type};
    return if $scope->{path} eq '/none';
    die "on purpose\n" if $scope->{path} eq '/dies';
    for my $event (@then) {
        my ( $type, %fields ) = @$event;
        eval { await $send->( { type => "websocket.$type", %fields } ); 1 } or push @said, $@ =~ s/\n//r;
    }
    return if $scope->{path} eq '/returns';
    die "later\n" if $scope->{path} eq '/later';
    while (1) {
        my $event = await $receive->();
        push @said, join ' ', map { "$_=$event->{$_}" } sort keys %$event;
        last if $event->{type} eq 'websocket.disconnect';
        await $send->( { type => 'websocket.send', text => "echo $event->{text}" } ) if defined $event->{text};
    }
};
my $pair = PagiPair->new($app);
my $switched = "HTTP/1.1 101 Status\r\nupgrade: websocket\r\nconnection: Upgrade\r\ncameleer-websocket: frames\r\n\r\n";

sub opened ( $path, @events ) {
    @then = @events;
    my $open = $pair->connect->handshake( $path, "Sec-WebSocket-Protocol: a, b\r\n" );
    $open->turn( sub { @said } );
    is shift @said, 'websocket.connect', "$path: the first event";
    return $open;
}

my $open = opened( '/', ['accept'] );
is $open->until(qr/\r\n\r\n/), $switched, 'accept switches to frames';
is_deeply [ @$scope{qw(type scheme path subprotocols)}, [ sort keys %{ $scope->{extensions} } ] ], [ 'websocket', 'ws', '/', [ 'a', 'b' ], ['websocket.http.response'] ], 'the scope';
ok( ( grep { $_->[0] eq 'sec-websocket-key' } @{ $scope->{headers} } ), 'the scope has the fields of the handshake' );
$open->send( PagiPair::frame( 1, "gr\xc3\xbc\xc3\x9f" ) . PagiPair::frame( 2, "\xff\0" ) );
is_deeply [ $open->frame_of ], [ 1, "echo gr\xc3\xbc\xc3\x9f" ], 'a text is characters for the application, and UTF-8 for the front';
$open->send( PagiPair::frame( 1, 'x' x 100_000 ) );
is_deeply [ $open->frame_of ], [ 1, 'echo ' . 'x' x 100_000 ], 'a message in several reads';
is_deeply [ map { length > 50 ? length : $_ } splice @said ], [ "text=gr\x{fc}\x{df} type=websocket.receive", "bytes=\xff\0 type=websocket.receive", 100_000 + length 'text= type=websocket.receive' ], 'the messages';
$open->send( PagiPair::frame( 8, pack( 'n', 4001 ) . "bye \xc3\xbc" ) );
$open->turn( sub { @said } );
is_deeply [ splice @said ], ["code=4001 reason=bye \x{fc} type=websocket.disconnect"], 'the close of the client';

for ( [ 9, pack( 'n', 1006 ) . 'keepalive_timeout', 'code=1006 reason=keepalive_timeout' ], [ 8, '', 'code=1005 reason=' ], [ undef, '', 'code=1006 reason=client_closed' ] ) {
    my ( $kind, $payload, $expected ) = @$_;
    $open = opened( '/', ['accept'] );
    $open->until(qr/\r\n\r\n/);
    defined $kind ? $open->send( PagiPair::frame( $kind, $payload ) ) : close $open->{front};
    $open->turn( sub { @said } );
    is_deeply [ splice @said ], ["$expected type=websocket.disconnect"], $expected;
}

$open = opened( '/', [ accept => subprotocol => 'b', headers => [ [ 'X-One', 1 ] ] ], [ send => text => "\x{20ac}\x{d800}" ], [ send => bytes => "\xff" ], [ keepalive => interval => 30, timeout => 1.5 ], [ close => code => 3000, reason => "\x{fc}" ], [ send => text => 'late' ] );
like $open->until(qr/\x08.*\xbc/s), qr/\AHTTP.*x-one: 1\r\nsec-websocket-protocol: b\r\n.*\r\n\r\n\x01\0\0\0\x06\xe2\x82\xac\xef\xbf\xbd\x02\0\0\0\x01\xff\x0a\0\0\0\x08\0\0\x75\x30\0\0\x05\xdc\x08\0\0\0\x04\x0b\xb8\xc3\xbc\z/s, 'the frames of the worker';
is_deeply [ splice @said ], [], 'nothing of this is an error, and what follows the close is not sent';
$open->send( PagiPair::frame( 8, pack 'n', 3000 ) );
$open->turn( sub { @said } );
is_deeply [ splice @said ], ['code=3000 reason= type=websocket.disconnect'], 'the client answers the close';

for (
    [ [ send => text => 'a', bytes => 'b' ], 'websocket.send: exactly one of text and bytes is needed' ],
    [ ['send'],                              'websocket.send: exactly one of text and bytes is needed' ],
    [ [ send => text  => [] ],               'websocket.send: text is not a string' ],
    [ [ send => bytes => "\x{100}" ],        'websocket.send: bytes has characters above 255: encode it' ],
    [ [ close => code => 1005 ],             'websocket.close: code is 1005, which no close frame can have' ],
    [ [ close => code => 'x' ],              'websocket.close: code is not a non-negative integer' ],
    [ [ close => reason => 'x' x 124 ],      'websocket.close: reason has more than 123 bytes' ],
    [ ['keepalive'],                         'websocket.keepalive: interval is missing' ],
    [ ['accept'],                            'websocket.accept: the handshake is over' ],
) {
    my ( $event, $error ) = @$_;
    $open = opened( '/', ['accept'], $event );
    $open->until(qr/\r\n\r\n/);
    is_deeply [ splice @said ], ["PAGI: $error"], $error;
    close $open->{front};
    $open->turn( sub { @said } );
    @said = ();
}
$open = opened( '/', [ send => text => 'early' ], [ accept => headers => [ [ 'x', "a\r\nb" ] ] ], [ accept => subprotocol => 'a b' ] );
is_deeply [ splice @said ], [ map {"PAGI: websocket.$_"} 'send: the connection is not accepted', 'accept: the value of the header x has a line break or a NUL', 'accept: subprotocol is not a token' ], 'errors before the handshake';
close $open->{front};
$open->turn( sub { @said } );
@said = ();

like opened( '/', ['close'] )->response, qr{\AHTTP/1.1 403 Forbidden\n}, 'a close before the handshake is a 403';
is opened( '/', [ 'http.response.start' => status => 401, headers => [ [ 'x', 'y' ] ] ], [ 'http.response.body' => body => 'a', more => 1 ], [ 'http.response.body' => body => 'b' ] )->response,
  "HTTP/1.1 401 Unauthorized\nx: y\ncontent-length: 2\n\nab", 'a response instead of the handshake';
@said = ();
is PagiPair::warnings(), '', 'without a warning';

for ( [ '/none', qr/without accepting or refusing/ ], [ '/dies', qr/on purpose/ ] ) {
    like opened( $_->[0] )->response, qr{\AHTTP/1.1 500 }, "$_->[0] is a 500";
    like PagiPair::warnings(), $_->[1], "$_->[0] is logged";
}
for ( [ '/returns', 1000, qr/\A\z/ ], [ '/later', 1011, qr/\APAGI: later\n\z/ ] ) {
    my ( $path, $code, $why ) = @$_;
    $open = opened( $path, ['accept'] );
    $open->until(qr/\r\n\r\n(?=.{7})/s) =~ /\r\n\r\n(.*)/s;
    is $1, PagiPair::frame( 8, pack 'n', $code ), "$path closes with $code";
    like PagiPair::warnings(), $why, "$path: the log";
}

# An application that does not read: the front is not read either, and no message is lost.
my $go = Future->new;
my $slow = PagiPair->new(
    async sub ( $asked, $receive, $send ) {
        die if $asked->{type} ne 'websocket';
        await $receive->();
        await $send->( { type => 'websocket.accept' } );
        await $go;
        for my $number ( 1 .. 300 ) { my $event = await $receive->(); push @said, $event->{text} // $event->{type} }
    }
);
$slow->handshake->until(qr/\r\n\r\n/);
my ( $frames, $sent ) = ( join( '', map { PagiPair::frame( 1, "$_ " . 'x' x 3000 ) } 1 .. 300 ), 0 );
my $stuck = 0;
$slow->turn( sub { my $n = syswrite $slow->{front}, $frames, length($frames) - $sent, $sent; $sent += $n // 0; $stuck = $n ? 0 : $stuck + 1; return $stuck > 3 } );
ok $sent < length $frames, 'the front has to wait';
$go->done;
$slow->turn( sub { my $n = syswrite $slow->{front}, $frames, length($frames) - $sent, $sent; $sent += $n // 0; return @said == 300 } );
is_deeply [ map {/\A(\d+)/} splice @said ], [ 1 .. 300 ], 'all messages arrive in order';

# A reload.
$open = opened( '/', ['accept'] );
$open->until(qr/\r\n\r\n/);
$pair->{server}->leave;
$pair->{server}->end;
is_deeply [ $open->frame_of ], [ 8, pack 'n', 1012 ], 'a stop closes with 1012';
$open->turn( sub { @said } );
is_deeply [ splice @said ], ['code=1006 reason=server_shutdown type=websocket.disconnect'], 'and the application knows';

done_testing;
