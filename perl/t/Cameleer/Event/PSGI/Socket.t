# psgix.io: an application that takes the connection.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PSGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PSGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PsgiPair; PsgiPair::available() } or plan skip_all => 'IO::Async is not installed';
}

my %kept;
my %apps = (
    '/takes'  => sub ($env) { $kept{io} = $env->{'psgix.io'}; syswrite $kept{io}, "HTTP/1.1 101 Test\r\n\r\nhello"; sub ($respond) { return } },
    '/keeps'  => sub ($env) { my $io = $env->{'psgix.io'}; syswrite $io, "HTTP/1.1 101 Test\r\n\r\n"; sub ($respond) { @kept{qw(io respond)} = ( $io, $respond ) } },
    '/closes' => sub ($env) { sub ($respond) { close $env->{'psgix.io'}; $kept{env} = $env } },
    '/handle' => sub ($env) { my $io = $env->{'psgix.io'}; sub ($respond) { $kept{io} = $io } },
    '/drops'  => sub ($env) { sub ($respond) { return } },
    '/array'  => sub ($env) { $kept{io} = $env->{'psgix.io'}; [ 200, [], ['no'] ] },
    '/env'    => sub ($env) { sub ($respond) { @kept{qw(env respond)} = ( $env, $respond ) } },
    '/late'   => sub ($env) { sub ($respond) { $kept{respond} = $respond } },
    '/dies'   => sub ($env) { die "no\n" },
    '/has'    => sub ($env) { [ 200, [], [ ref $env->{'psgix.io'} || 'none' ] ] },
);
my $first = PsgiPair->new( sub ($env) { $apps{ $env->{PATH_INFO} }->($env) } );
sub asks ($path) { return $first->connect->upgrade($path) }
sub ends ($pair) { $pair->turn( sub { $pair->read_some; $pair->{ended} } ); return $pair->{in} =~ s/\r\n/\n/gr }

like $first->get('/has'), qr/none\z/, 'a request without an upgrade';
like $first->get( '/has', "Connection: Upgrade\r\nUpgrade: h2c\r\n" ), qr/none\z/, 'h2c is no upgrade';
is ends( asks('/has') ), "HTTP/1.1 200 OK\nContent-Length: 29\nConnection: close\n\nCameleer::Event::PSGI::Socket", 'a response instead';

my $pair = asks('/takes');
is $pair->until(qr/hello/) =~ s/.*\n//sr, 'hello', 'the application writes';
isa_ok $kept{io}, 'IO::Socket', 'the socket';
$pair->send('from the client');
ok !$pair->{stream}{is_closed}, 'the stream is counted';
$pair->{server}{loop}->loop_once(0);
sysread $kept{io}, my $got, 100;
is $got, 'from the client', 'and reads';
delete $kept{io};
is ends($pair), '', 'the end of the socket is that of the stream';
ok $pair->{stream}{is_closed}, 'which is not counted any more';

$pair = asks('/keeps');
$pair->until(qr/101/);
( delete $kept{respond} )->( [ 200, [], ['finished'] ] );
delete $kept{io};
is ends($pair), '', 'a responder that is called after the handshake';
$pair = asks('/keeps');
$pair->until(qr/101/);
delete $kept{io};
is ends($pair), '', 'or never';
delete $kept{respond};

is ends( asks('/closes') ), '', 'a socket that is closed, although it has a reference';
$pair = asks('/handle');
$pair->turn( sub { $kept{io} } );
delete $kept{io};
is ends($pair), '', 'a socket that is dropped without a response';
like ends( asks('/drops') ), qr/ 500 /, 'an application that drops all it has';
like ends( asks('/dies') ), qr/ 500 /, 'an exception';
like ends( asks('/array') ), qr/\n\nno\z/, 'a response';
ok !syswrite( $kept{io}, 'foreign' ), 'after which the socket is shut down';

$pair = asks('/env');
$pair->turn( sub { $kept{respond} } );
( delete $kept{respond} )->( [ 200, [], ['after a check'] ] );
like ends($pair), qr/after a check\z/, 'an application with the environment has not taken the socket';
$pair = asks('/late');
$pair->turn( sub { $kept{respond} } );
$pair->{server}{loop}->loop_once(0) for 1 .. 3;
( delete $kept{respond} )->( [ 403, [], ['refused'] ] );
like ends($pair), qr/refused\z/, 'a refusal';
$pair = asks('/late');
$pair->turn( sub { $kept{respond} && !$pair->{stream}{is_paused} } );
close $pair->{front};
$pair->turn( sub { $pair->{stream}{is_closed} } );
pass 'a client that leaves';

$pair = asks('/takes');
$pair->until(qr/hello/);
$pair->{server}->end;
is ends($pair), '', 'the end of the time of a stop';
is sysread( $kept{io}, $got, 1 ), 0, 'the application sees it';
is keys %{ $pair->{server}{sockets} }, 0, 'nothing is left';

done_testing;
