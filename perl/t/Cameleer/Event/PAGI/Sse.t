# The scope `sse`: the stream of events, its validation, and responses instead of it.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}
use Future::AsyncAwait;

use constant ACCEPT => "Accept: text/event-stream\r\n";

my ( $scope, @said );

# Sends events, and notes the errors of those that fail.
async sub sent ( $send, @events ) {
    for my $event (@events) {
        my ( $type, %fields ) = @$event;
        eval { await $send->( { type => "sse.$type", %fields } ); 1 } or push @said, $@ =~ s/\n//r;
    }
}

my @events;
my %PAGES = (
    '/'     => async sub ( $receive, $send ) { await sent( $send, @events ) },
    '/post' => async sub ( $receive, $send ) { my $event = await $receive->(); await sent( $send, ['start'], [ send => data => "$event->{type} $event->{body} $event->{more}" ] ) },
    '/wait' => async sub ( $receive, $send ) {
        await sent( $send, @events );
        while (1) {
            my $event = await $receive->();
            push @said, join ' ', map { "$_=$event->{$_}" } sort keys %$event;
            last if $event->{type} eq 'sse.disconnect';
        }
    },
);
my $app = async sub ( $asked, $receive, $send ) {
    die "no $asked->{type}\n" if $asked->{type} ne 'sse';
    $scope = $asked;
    await $PAGES{ $scope->{path} }->( $receive, $send );
};
my $pair = PagiPair->new($app);
my $head = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\ncache-control: no-cache\nconnection: close\ntransfer-encoding: chunked\n\n";

sub stream (@sent) {
    @events = @sent;
    # The end of a stream of events is that of its connection.
    return $pair->connect->get( '/', ACCEPT );
}

for (
    [ 'data only',         "data: one\n\n", [ data => 'one' ] ],
    [ 'all fields',        "event: e\nid: 7\nretry: 30\ndata: x\n\n", [ event => 'e', id => 7, retry => 30, data => 'x' ] ],
    [ 'several lines',     "data: a\ndata: b\ndata: \ndata: c\ndata: \n\n", [ data => "a\nb\r\n\rc\n" ] ],
    [ 'no data',           "data: \n\n", [ data => '' ] ],
    [ 'text beyond ASCII', "event: \xc3\xbc\ndata: \xe2\x82\xac\n\n", [ event => "\x{fc}", data => "\x{20ac}" ] ],
) {
    my ( $name, $wire, $fields ) = @$_;
    ( my $got = stream( ['start'], [ send => @$fields ] ) ) =~ s/\r\n/\n/g;
    is $got, "$head$wire", $name;
}
is stream( ['start'], [ comment => comment => 'hi' ], [ comment => comment => ":a\nb" ] ), "$head:hi\n\n:a\n:b\n\n", 'comments begin with a colon';
is stream( [ start => headers => [ [ 'content-type', 'text/event-stream; x=y' ], [ 'cache-control', 'private' ] ] ], [ send => data => 'x' ] ),
  "HTTP/1.1 200 OK\ncontent-type: text/event-stream; x=y\ncache-control: private\nconnection: close\ntransfer-encoding: chunked\n\ndata: x\n\n", 'the fields of the application are not doubled';
is_deeply [ splice @said ], [], 'none of this is an error';

for (
    [ send => [ send => data => "x", event => "a\nb" ], 'PAGI: sse.send: event has a line break or a NUL' ],
    [ send => [ send => data => "x", id    => "a\rb" ], 'PAGI: sse.send: id has a line break or a NUL' ],
    [ send => [ send => data => "x", retry => -1 ],     'PAGI: sse.send: retry is not a non-negative integer' ],
    [ send => ['send'],                                 'PAGI: sse.send: data is missing' ],
    [ send => [ send => data => [] ],                   'PAGI: sse.send: data is not a string' ],
    [ send => ['comment'],                              'PAGI: sse.comment: comment is missing' ],
    [ send => [ keepalive => interval => 'x' ],         'PAGI: sse.keepalive: interval is not a number of seconds' ],
    [ send => ['other'],                                'PAGI: an application must not send sse.other here' ],
    [ send => [ 'http.response.start' => status => 404 ], 'PAGI: sse.http.response.start: the stream has started' ],
    [ send => [ 'http.response.body' ],                 'PAGI: sse.http.response.body: the stream has started' ],
    [ send => ['start'],                                'PAGI: sse.start: the response has already started' ],
) {
    my ( undef, $event, $error ) = @$_;
    is stream( ['start'], $event, [ send => data => 'after' ] ), "${head}data: after\n\n", "the stream goes on: $error";
    is_deeply [ splice @said ], [$error], $error;
}
stream( [ send => data => 'early' ], ['start'] );
is_deeply [ splice @said ], ['PAGI: sse.send: the stream has not started'], 'an event before the start';

is stream( ['start'], [ send => data => 'x' ], [ close => reason => 'done' ], ['close'], [ send => data => 'y' ], [ comment => comment => 'y' ], [ keepalive => interval => 1 ] ),
  "${head}data: x\n\n", 'sse.close ends the stream';
is_deeply [ splice @said ], [ map {"PAGI: sse.$_: the stream is closed"} qw(send comment keepalive) ], 'later events are errors, a second close is not';

is stream( [ 'http.response.start' => status => 401, headers => [ [ 'www-authenticate', 'Bearer' ] ] ], [ 'http.response.body' => body => 'no' ] ),
  "HTTP/1.1 401 Unauthorized\nwww-authenticate: Bearer\ncontent-length: 2\n\nno", 'a request can be declined';
is stream( [ 'http.response.start' => status => 204 ], ['http.response.body'] ), "HTTP/1.1 204 No Content\n\n", 'a 204 ends the tries of a client';
stream( [ 'http.response.start' => status => 404 ], [ send => data => 'x' ], ['close'], ['start'], ['http.response.body'] );
is_deeply [ splice @said ], [ map {"PAGI: sse.$_: the request was declined"} qw(send close start) ], 'there is no stream in a response';

is $pair->connect->send( PagiPair::request( '/post', ACCEPT . "Content-Length: 4\r\n", 'POST' ) . 'body' )->response, "${head}data: sse.request body 0\n\n", 'a POST has its body';
is_deeply [ $scope->{method}, $scope->{type}, exists $scope->{'pagi.connection'} ], [ 'POST', 'sse', !!0 ], 'the scope is of the kind sse';
is PagiPair::warnings(), '', 'without a warning';

# Keepalives come without the application.
@events = ( ['start'], [ keepalive => interval => 0.01, comment => 'ping' ] );
$pair->send( PagiPair::request( '/wait', ACCEPT ) );
like $pair->until(qr/(?:7\r\n:ping\n\n\r\n){2}/), qr/ping/, 'a keepalive is a comment';
close $pair->{front};
$pair->turn( sub { @said >= 2 } );
is_deeply [ splice @said ], [ 'body= more=0 type=sse.request', 'reason=client_closed type=sse.disconnect' ], 'a client that leaves is a disconnect with its reason';

# The server stops.
my $other = $pair->connect;
@events = ( ['start'] );
$other->send( PagiPair::request( '/wait', ACCEPT ) )->until(qr/\r\n\r\n/);
$pair->{server}->leave;
$pair->{server}->end;
$other->turn( sub { @said >= 2 } );
is $said[1], 'reason=server_shutdown type=sse.disconnect', 'a stop is a disconnect';

done_testing;
