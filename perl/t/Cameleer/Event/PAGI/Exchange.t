# Calls of the application, and futures that wait for events.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

use Future::AsyncAwait;

my ( @said, $receive, $send );
my $pair = PagiPair->new(
    sub ( $scope, @functions ) {
        die "no $scope->{type}\n" if $scope->{type} ne 'http';
        ( $receive, $send ) = @functions;
        return $scope->{path} eq '/value' ? 7 : Future->new;
    }
);
$pair->get('/value');
is PagiPair::warnings(), "PAGI: the application returned no Future\n", 'an application returns a future';

$pair->send( PagiPair::request( '/', "Content-Length: 2\r\n", 'POST' ) );
$pair->turn( sub { $receive && $pair->{stream}{exchange} } );
my ( $first, $second ) = ( $receive->(), $receive->() );
$first->cancel;
$pair->send('ab');
$pair->turn( sub { $second->is_ready } );
is $second->get->{body}, 'ab', 'a future that was cancelled takes no event';
my @waiting = map { $receive->() } 1 .. 3;
for my $event ( undef, {}, { type => 'other' }, { type => 'websocket.send' }, { type => 'http.response.body' }, { type => 'http.response.trailers' } ) {
    ok $send->($event)->is_failed, 'no event of http: ' . ( $event ? $event->{type} // 'no type' : 'undef' );
}
ok !$send->( { type => 'http.response.start', status => 200, extra => { field => 1 } } )->is_failed, 'a field more is no error';
ok $send->( { type => 'http.response.start', status => 200 } )->is_failed, 'a second start is one';
close $pair->{front};
$pair->turn( sub { !grep { !$_->is_ready } @waiting } );
is_deeply [ map { $_->get->{type} } @waiting, $receive->() ], [ ('http.disconnect') x 4 ], 'all that wait get the disconnect, and those that come later';
ok $send->( { type => 'other' } )->is_done, 'after the end nothing is an error';

done_testing;
