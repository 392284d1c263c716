# Applications that are accepted, and how a worker of them ends.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;

require Cameleer::Event::PAGI;
{
    delete local $INC{'Future/AsyncAwait.pm'};
    ok !Cameleer::Event::PAGI->accepts( sub { } ), 'a sub of a program without Future::AsyncAwait is none of PAGI';
}

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}
use Future::AsyncAwait;
ok( Cameleer::Event::PAGI->accepts( async sub { } ), 'a sub is accepted' );
ok( Cameleer::Event::PAGI->accepts( bless {}, 'PAGI::Mine' ), 'an object of PAGI that makes an application' );
ok !Cameleer::Event::PAGI->accepts($_), 'nothing else: ' . ( ref || $_ ) for {}, 'text', bless( {}, 'Other' ), [];
sub PAGI::Mine::to_app { }
sub Other::to_app      { }

my @said;
my $app = async sub ( $scope, $receive, $send ) {
    if ( $scope->{type} eq 'lifespan' ) {
        while (1) {
            my $event = await $receive->();
            push @said, $event->{type};
            await $send->( { type => "$event->{type}.complete" } );
            return if $event->{type} eq 'lifespan.shutdown';
        }
    }
    await $receive->() if $scope->{path} eq '/once';
    await $receive->() if $scope->{path} eq '/wait';
    push @said, ( await $receive->() )->{type} if $scope->{path} eq '/wait';
    await $send->( { type => 'http.response.start', status => 200 } );
    await $send->( { type => 'http.response.body', body => $scope->{path} } );
};

# Streams end as their requests do.
my $pair = PagiPair->new($app);
ok $pair->{started}, 'the worker starts';
my ( $busy, $used ) = ( $pair->connect, $pair->connect );
like $used->get('/x'), qr{/x\z}, 'a request';
$busy->send( PagiPair::request( '/once', "Content-Length: 1\r\n", 'POST' ) );
$busy->turn( sub { $busy->{stream}{exchange} } );
$pair->{server}->leave;
like $used->get('/y'), qr{\nconnection: close\n.*/y\z}s, 'a request that was on its way is answered, and its stream closes';
$pair->turn( sub { $_->read_some for $pair, $used; $pair->{ended} && $used->{ended} } );
pass 'idle streams close';
ok !$pair->{server}{is_over}, 'a request keeps the worker';
like $busy->send('x')->response, qr{/once\z}, 'and gets its response';
$busy->turn( sub { $pair->{server}{is_over} } );
$pair->{server}->stop;
is_deeply [ splice @said ], [ 'lifespan.startup', 'lifespan.shutdown' ], 'the application starts and stops';

# What is not over in time is ended.
$pair = PagiPair->new( $app, graceful => 0.05 );
$pair->send( PagiPair::request('/wait') );
$pair->turn( sub { $pair->{stream}{exchange} } );
$pair->{server}->leave;
$pair->turn( sub { $pair->{server}{is_over} } );
is_deeply [ splice @said ], [ 'lifespan.startup', 'http.disconnect' ], 'a request that takes too long is disconnected';
is PagiPair::warnings(), '', 'without a warning';

# The loop gives streams back.
$pair = PagiPair->new($app);
for ( 1 .. 50 ) {
    my $other = $pair->connect;
    $other->get('/x');
    close $other->{front};
}
$pair->turn( sub { keys %{ $pair->{server}{streams} } == 1 } );
my $stream = $pair->{stream};
Scalar::Util::weaken( $_->{stream} ) for $pair;
close $pair->{front};
$pair->turn( sub { !%{ $pair->{server}{streams} } } );
Scalar::Util::weaken($stream);
is $stream, undef, 'a stream that is closed is freed';

done_testing;
