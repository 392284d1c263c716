# The scope `http`: events in both directions, and their bytes on the stream.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}
use Future::AsyncAwait;
use File::Temp ();

my ( $scope, $conn, @said );

sub started (@headers) { return { type => 'http.response.start', status => 200, headers => [@headers] } }
sub body ( $body, $more = 0 ) { return { type => 'http.response.body', body => $body, more => $more } }

async sub body_of ($receive) {
    my $body = '';
    while (1) {
        my $event = await $receive->();
        last if $event->{type} ne 'http.request';
        $body .= $event->{body};
        last if !$event->{more};
    }
    return $body;
}

my ( $file, $name ) = File::Temp::tempfile( UNLINK => 1 );
print {$file} '0123456789' x 20_000;
close $file;

my %PAGES = (
    '/hello' => async sub ( $receive, $send ) {
        await $send->( started( [ 'Content-Type', 'text/plain' ] ) );
        await $send->( body('hello') );
    },
    '/stream' => async sub ( $receive, $send ) {
        await $send->( started( [ 'transfer-encoding', 'x' ], [ 'connection', 'close' ] ) );
        await $send->( body( 'one ', 1 ) );
        await $send->( { type => 'http.fullflush' } );
        await $send->( body( '',    1 ) );
        await $send->( body( 'two', 0 ) );
        await $send->( body('ignored') );
    },
    '/trailers' => async sub ( $receive, $send ) {
        await $send->( { %{ started() }, trailers => 1 } );
        await $send->( body('text') );
        await $send->( { type => 'http.response.trailers', headers => [ [ 'x-sum', '7' ] ] } );
    },
    '/echo'   => async sub ( $receive, $send ) { my $body = await body_of($receive); await $send->( started() ); await $send->( body("got $body") ) },
    '/length' => async sub ( $receive, $send ) {
        await $send->( started( [ 'content-length', 5 ] ) );
        await $send->( body( 'ab', 1 ) );
        await $send->( body('cde') );
    },
    '/toolong'  => async sub ( $receive, $send ) { await $send->( started( [ 'content-length', 3 ] ) ); await $send->( body('abcd') ) },
    '/tooshort' => async sub ( $receive, $send ) { await $send->( started( [ 'content-length', 3 ] ) ); await $send->( body('a') ) },
    '/none'     => async sub ( $receive, $send ) { return },
    '/dies'     => async sub ( $receive, $send ) { die "on purpose\n" },
    '/late'     => async sub ( $receive, $send ) { await $send->( started() ); die "after the start\n" },
    '/later'    => async sub ( $receive, $send ) { await $send->( started() ); await $send->( body( 'x', 1 ) ); die "within the body\n" },
    '/returns'  => async sub ( $receive, $send ) { await $send->( started() ); await $send->( body( 'x', 1 ) ) },
    '/empty'    => async sub ( $receive, $send ) { await $send->( { type => 'http.response.start', status => 204 } ); await $send->( body('') ) },
    '/file'     => async sub ( $receive, $send ) { await $send->( started() ); await $send->( { type => 'http.response.body', file => $name } ) },
    '/range'    => async sub ( $receive, $send ) {
        await $send->( started() );
        await $send->( { type => 'http.response.body', file => $name, offset => 199_995, length => 99 } );
    },
    '/handle' => async sub ( $receive, $send ) {
        open my $in, '<', $name or die $!;
        await $send->( started() );
        await $send->( { type => 'http.response.body', fh => $in, offset => 3, length => 4 } );
    },
    '/memory' => async sub ( $receive, $send ) {
        open my $in, '<', \'in memory' or die $!;
        await $send->( started() );
        await $send->( { type => 'http.response.body', fh => $in, offset => 3 } );
    },
    '/missing' => async sub ( $receive, $send ) { await $send->( started() ); await $send->( { type => 'http.response.body', file => "$name.no" } ) },
    '/wait'    => async sub ( $receive, $send ) {
        await body_of($receive);
        push @said, ( await $receive->() )->{type};
        push @said, ( await $receive->() )->{type};
        await $send->( started() );
        push @said, 'sent';
    },
    '/after' => async sub ( $receive, $send ) {
        await body_of($receive);
        await $send->( started() );
        await $send->( body('x') );
        push @said, ( await $receive->() )->{type};
    },
    '/state' => async sub ( $receive, $send ) {
        push @said, join ' ', map { $conn->$_ // 'undef' } qw(is_connected response_started response_complete disconnect_reason);
        $conn->on_complete( sub (@all) { push @said, "complete @all" } );
        $conn->on_complete( sub (@all) { die "in a callback\n" } );
        $conn->on_complete( sub (@all) { push @said, 'second' } );
        $conn->on_disconnect( sub ($why) { push @said, "disconnect $why" } );
        await $send->( started() );
        push @said, $conn->response_started . $conn->response_complete;
        await $send->( body('x') );
        push @said, $conn->response_started . $conn->response_complete;
    },
);

my $app = async sub ( $asked, $receive, $send ) {
    die "no $asked->{type}\n" if $asked->{type} ne 'http';
    ( $scope, $conn ) = ( $asked, $asked->{'pagi.connection'} );
    await $PAGES{ $asked->{path} }->( $receive, $send );
};
my $pair = PagiPair->new($app);

is $pair->get('/hello'), "HTTP/1.1 200 OK\ncontent-type: text/plain\ncontent-length: 5\n\nhello", 'a start and a body are one response with its length';
is $pair->get('/stream'), "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\none two", 'a body in parts is chunked, and the fields of the connection are the server\'s';
is $pair->get('/trailers'), "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\ntext\nx-sum: 7\n", 'trailers follow the body';
is $pair->get('/length'), "HTTP/1.1 200 OK\ncontent-length: 5\n\nabcde", 'a content-length is the application\'s';
is $pair->get( '/hello', '', 'HEAD' ), "HTTP/1.1 200 OK\ncontent-type: text/plain\ncontent-length: 5\n\n", 'HEAD has no body';
is $pair->get( '/stream', '', 'HEAD' ), "HTTP/1.1 200 OK\n\n", 'HEAD has no chunks';
is $pair->get('/empty'), "HTTP/1.1 204 No Content\n\n", 'a 204 has no length';

is $pair->send( PagiPair::request( '/echo', "Content-Length: 7\r\n", 'POST' ) . 'a body!' )->response, "HTTP/1.1 200 OK\ncontent-length: 11\n\ngot a body!", 'a body with a length';
is $pair->send( PagiPair::request( '/echo', "Transfer-Encoding: chunked\r\n", 'POST' ) . "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Trailer: y\r\n\r\n" )->response,
  "HTTP/1.1 200 OK\ncontent-length: 17\n\ngot abc0123456789", 'a chunked body';
$pair->send( PagiPair::request( '/echo', "Transfer-Encoding: chunked\r\n", 'POST' ) );
$pair->send($_), $pair->turn( sub { $pair->{stream}{in} eq '' || 1 } ) for split //, "3\r\nabc\r\n0\r\n\r\n";
is $pair->response, "HTTP/1.1 200 OK\ncontent-length: 7\n\ngot abc", 'a chunked body in pieces of a byte';
is $pair->send( PagiPair::request( '/echo', "Content-Length: 2\r\nExpect: 100-continue\r\n", 'POST' ) )->until(qr/\r\n\r\n/), "HTTP/1.1 100 Continue\r\n\r\n",
  'a client that waits is asked for its body when the application reads';
is $pair->send('hi')->response, "HTTP/1.1 200 OK\ncontent-length: 6\n\ngot hi", 'the body follows';
is $pair->send( PagiPair::request( '/hello', "Content-Length: 4\r\n", 'POST' ) )->response, "HTTP/1.1 200 OK\ncontent-type: text/plain\ncontent-length: 5\n\nhello",
  'a response may come before the body';
is $pair->send( 'rest' . PagiPair::request('/hello') )->response, "HTTP/1.1 200 OK\ncontent-type: text/plain\ncontent-length: 5\n\nhello", 'a body that nobody reads is discarded';
is PagiPair::warnings(), '', 'without a warning';

my $content = '0123456789' x 20_000;
is $pair->get('/file'),   "HTTP/1.1 200 OK\ncontent-length: 200000\n\n$content", 'a file is sent with its length';
is $pair->get('/range'),  "HTTP/1.1 200 OK\ncontent-length: 5\n\n56789",         'a part of a file ends with the file';
is $pair->get('/handle'), "HTTP/1.1 200 OK\ncontent-length: 4\n\n3456",          'a part of an open file';
is $pair->get('/memory'), "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nmemory", 'a file in memory';
is PagiPair::warnings(), '', 'without a warning';

my $failed = "HTTP/1.1 500 Internal Server Error\ncontent-type: text/plain\ncontent-length: 22\n\nInternal Server Error\n";
for ( [ '/missing', qr/\.no: No such file/ ], [ '/dies', qr/on purpose/ ], [ '/none', qr/without starting a response/ ], [ '/late', qr/after the start/ ], [ '/toolong', qr/longer than its content-length/ ] ) {
    my ( $path, $why ) = @$_;
    is $pair->get($path), $failed, "$path becomes a 500";
    like PagiPair::warnings(), qr/\APAGI: .*$why/, "$path is logged";
    is $conn->disconnect_reason, 'server_error', "$path is no completion";
}
for ( [ '/later', qr/within the body/ ], [ '/returns', qr/before its response was complete/ ], [ '/tooshort', qr/2 bytes before its content-length/ ] ) {
    my ( $path, $why ) = @$_;
    my $other = $pair->connect;
    $other->send( PagiPair::request($path) )->until(qr/\z.\A/);
    ok $other->{ended}, "$path ends the stream, so that the client knows";
    like PagiPair::warnings(), $why, "$path is logged";
}

$pair->get('/state');
is_deeply [ splice @said ], [ '1 0 0 undef', '10', 'complete ', 'second', '11' ], 'the state follows the response, and a callback that dies stops no other';
like PagiPair::warnings(), qr/on_complete died: in a callback/, 'and is logged';
is $conn->is_connected . ( $conn->disconnect_reason // 'undef' ), '0undef', 'a response that is complete is no disconnect';
$conn->on_complete( sub { push @said, 'at once' } );
is_deeply [ splice @said ], ['at once'], 'a callback that comes late is called at once';

$pair->get('/after');
is_deeply [ splice @said ], ['http.disconnect'], 'after the response there is only http.disconnect';

my $other = $pair->connect;
$other->send( PagiPair::request('/wait') );
$pair->turn( sub { $scope->{path} eq '/wait' } );
$conn->on_disconnect( sub ($why) { push @said, "$why " . $conn->is_connected } );
my $future = $conn->disconnect_future;
close $other->{front};
$pair->turn( sub { @said >= 4 } );
is_deeply [ splice @said ], [ 'client_closed 0', 'http.disconnect', 'http.disconnect', 'sent' ], 'a client that leaves is a disconnect, and later sends do nothing';
is $future->get, 'client_closed', 'the future of the disconnect has the reason';
is PagiPair::warnings(), '', 'without a warning';

$pair->get( '/hello?a=%20b', "Cookie: a=1\r\nX-One: 1\r\nCookie: b=2\r\nCameleer-Script-Name: /m%C3%BC\r\n" );
is_deeply [ @$scope{qw(type method path raw_path query_string http_version scheme client server)} ],
  [ 'http', 'GET', '/hello', '/hello', 'a=%20b', '1.1', 'http', [ '192.0.2.1', 4711 ], [ '192.0.2.9', 80 ] ], 'the scope has the parts of the request';
is $scope->{root_path}, "/m\x{fc}", 'the mount path is text';
is_deeply $scope->{headers}, [ [ 'host', 'a' ], [ 'cookie', 'a=1; b=2' ], [ 'x-one', 1 ] ], 'cookies are joined, and the fields of the front are not the client\'s';
is_deeply [ sort keys %{ $scope->{extensions} } ], ['fullflush'], 'the extensions of http';

done_testing;
