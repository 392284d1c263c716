# Bytes on a stream that are no request, and streams that end.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

use Future::AsyncAwait;

my $pair = PagiPair->new(
    async sub ( $scope, $receive, $send ) {
        die "no $scope->{type}\n" if $scope->{type} ne 'http';
        while (1) { my $event = await $receive->(); last if !$event->{more} }
        await $send->( { type => 'http.response.start', status => 200 } );
        await $send->( { type => 'http.response.body', body => $scope->{path} } );
    }
);
for ( "nonsense\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", PagiPair::request( '/', "Content-Length: x\r\n" ), PagiPair::request( '/', "Transfer-Encoding: chunked\r\n" ) . 'x' x 5000 ) {
    my $other = $pair->connect;
    $other->send($_)->until(qr/\z.\A/);
    ok $other->{ended}, 'the stream ends: ' . substr $_, 0, 12;
}
is $pair->send( PagiPair::request('/a') . PagiPair::request('/b') )->until(qr{/b}) =~ s/\r\n/ /gr, 'HTTP/1.1 200 OK content-length: 2  /aHTTP/1.1 200 OK content-length: 2  /b', 'requests that come together';
$pair->send($_), $pair->{server}{loop}->loop_once(0) for split //, PagiPair::request('/c');
like $pair->response, qr{/c\z}, 'a request in pieces of a byte';

done_testing;
