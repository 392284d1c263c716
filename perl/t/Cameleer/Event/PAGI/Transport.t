# Output that waits: marks, callbacks, and what `$send` waits for.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

use Future::AsyncAwait;

# Outside of the sub: Future::AsyncAwait 0.63 loses the value of `x` in a sub that was resumed.
my $piece = 'x' x 100_000;
my ( $transport, @said, $sent );
my $pair = PagiPair->new(
    async sub ( $scope, $receive, $send ) {
        die if $scope->{type} ne 'http';
        $transport = $scope->{'pagi.transport'};
        await $send->( { type => 'http.response.start', status => 200, headers => [ [ 'content-length', 10_000_000 ] ] } );
        $transport->on_high_water( sub { push @said, 'high' } );
        $transport->on_drain( sub      { push @said, 'drain' } );
        for my $number ( 1 .. 100 ) {
            await $send->( { type => 'http.response.body', body => $piece, more => $number < 100 ? 1 : 0 } );
            $sent = $number;
        }
    }
);
is_deeply [ Cameleer::Event::PAGI::Transport::HIGH, Cameleer::Event::PAGI::Transport::LOW ], [ 65_536, 16_384 ], 'the marks';
$pair->send( PagiPair::request('/') );
$pair->turn( sub { @said } );
is_deeply [@said], ['high'], 'a client that does not read is noticed once';
ok $transport->buffered_amount >= $transport->high_water_mark, 'by what waits';
ok $transport->buffered_amount < 200_000, 'and little more than the mark waits';
ok $sent < 20, 'the application waits';
$transport->on_high_water( sub { push @said, 'late' } );
is $said[-1], 'late', 'a callback above the mark is called at once';
my $length = 0;
$pair->turn( sub { $pair->read_some; $length += length $pair->{in}; $pair->{in} = ''; return $length > 10_000_000 } );
is $said[2], 'drain', 'a client that reads again is noticed';
is $said[-1], 'drain', 'and at the end nothing waits';
is $sent, 100, 'all is sent';
is $transport->buffered_amount, 0, 'after the response nothing is buffered';

done_testing;
