# The scope `lifespan`.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

use Future::AsyncAwait;

my ( @said, $startup );
sub app ( $answer, %more ) {
    return async sub ( $scope, $receive, $send ) {
        return $more{state}->( $scope, $send ) if $scope->{type} ne 'lifespan';
        push @said, join ' ', map { "$_=$scope->{pagi}{$_}" } sort keys %{ $scope->{pagi} };
        $scope->{state}{shared} = $startup = { number => 1 };
        await $receive->();
        await $send->($answer) if $answer;
        return if !$answer || $answer->{type} =~ /failed/;
        die "later\n" if $more{dies};
        push @said, ( await $receive->() )->{type};
        await $send->( { type => "lifespan.shutdown.$more{end}", message => 'why' } );
    };
}
my $complete = { type => 'lifespan.startup.complete' };

my $pair = PagiPair->new(
    app( $complete, end => 'complete', state => async sub ( $scope, $send ) {
        push @said, "$scope->{state}{shared}{number} " . ( $scope->{state}{own}++ // 0 );
        $scope->{state}{shared}{number}++;
        await $send->( { type => 'http.response.start', status => 204 } );
        await $send->( { type => 'http.response.body' } );
    } ),
    slot => 2,
);
$pair->get for 1 .. 2;
$pair->{server}->stop;
is_deeply [ splice @said ], [ 'is_worker=1 spec_version=0.3 version=0.3 worker_num=3', '1 0', '2 0', 'lifespan.shutdown' ], 'values of the state are shared, its keys are not';

$pair = PagiPair->new( app( { type => 'lifespan.startup.failed', message => 'no database' } ) );
ok !$pair->{started}, 'an application can refuse to start';
is PagiPair::warnings(), "PAGI: the application could not start: no database\n", 'with its message';

for ( [ 'raises', sub { die "no lifespan\n" } ], [ 'returns', async sub { return } ], [ 'returns after the event', app(undef) ] ) {
    $pair = PagiPair->new( $_->[1] );
    ok $pair->{started}, "an application that $_->[0] is served without";
    $pair->{server}->stop;
    is PagiPair::warnings(), '', 'silently';
}

$pair = PagiPair->new( app( $complete, dies => 1 ) );
ok $pair->{started}, 'an exception after the start stops nothing';
is PagiPair::warnings(), "PAGI: lifespan: later\n", 'and is logged';

done_testing;
