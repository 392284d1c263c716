# Requests of PSGI: forms of responses, errors, and what one request leaves to the next.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PSGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PSGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PsgiPair; PsgiPair::available() } or plan skip_all => 'IO::Async is not installed';
}

my ( %kept, %did );
my %apps = (
    '/array'   => sub ($env) { [ 200, [ 'X-A' => 1, 'X-A' => 2 ], [ 'one ', undef, 'two' ] ] },
    '/204'     => sub ($env) { [ 204, [ 'Content-Length' => 3 ], ['abc'] ] },
    '/205'     => sub ($env) { [ 205, [], ['abc'] ] },
    '/304'     => sub ($env) { [ 304, [ 'Content-Length' => 3 ], ['abc'] ] },
    '/long'    => sub ($env) { [ 200, [ 'Content-Length' => 3 ], ['abcdef'] ] },
    '/short'   => sub ($env) { [ 200, [ 'Content-Length' => 9 ], ['abc'] ] },
    '/die'     => sub ($env) { die "broken\n" },
    '/text'    => sub ($env) {'text'},
    '/undef'   => sub ($env) {undef},
    '/hash'    => sub ($env) { [ 200, {}, [] ] },
    '/nobody'  => sub ($env) { [ 200, [], 'text' ] },
    '/inform'  => sub ($env) { [ 103, [], [] ] },
    '/split'   => sub ($env) { [ 200, [ 'X-A' => "1\r\nX-B: 2" ], ['x'] ] },
    '/wide'    => sub ($env) { [ 200, [], ["\x{20ac}"] ] },
    '/divided' => sub ($env) { [ 200, [ 'Transfer-Encoding' => 'chunked' ], [ "3\r\nabc\r\n", "0\r\n\r\n" ] ] },
    '/delayed' => sub ($env) { sub ($respond) { $respond->( [ 200, [], ['late'] ] ) } },
    '/later'   => sub ($env) { sub ($respond) { $kept{respond} = $respond } },
    '/lost'    => sub ($env) { sub ($respond) { return } },
    '/dies'    => sub ($env) { sub ($respond) { die "broken later\n" } },
    '/dies2'   => sub ($env) { sub ($respond) { $respond->( [ 200, [] ] )->write('begun'); die "broken after\n" } },
    '/twice'   => sub ($env) { sub ($respond) { $respond->( [ 200, [], ['once'] ] ); eval { $respond->( [ 200, [], ['twice'] ] ) }; warn $@ } },
    '/handle'  => sub ($env) { open my $file, '<', \'from a file'; [ 200, [], $file ] },
    '/object'  => sub ($env) { [ 200, [], bless { left => 40 }, 'My::Body' ] },
    '/object2' => sub ($env) { [ 200, [], bless { left => 3, dies => 1 }, 'My::Body' ] },
    '/input'   => sub ($env) { $kept{input} = $env->{'psgi.input'}; local $/; my $body = readline $env->{'psgi.input'}; [ 200, [], [ "$env->{CONTENT_LENGTH} ", length $body ] ] },
    '/cleanup' => sub ($env) { push @{ $env->{'psgix.cleanup.handlers'} }, sub ($env) { $did{cleanup} .= $env->{PATH_INFO} }, sub { die "cleanup\n" }; [ 200, [], ['x'] ] },
    '/env'     => sub ($env) { my $before = $ENV{MINE} // 'none'; $ENV{MINE} = 'changed'; $/ = undef; [ 200, [], [$before] ] },
);

package My::Body {
    sub getline ($self) {
        die "cannot read\n" if $self->{dies} && $self->{left} == 1;
        return $self->{left}-- > 0 ? 'x' x 10_000 : undef;
    }
    sub close ($self) { $did{close}++; return }
}

my $pair = PsgiPair->new( sub ($env) { $apps{ $env->{PATH_INFO} }->($env) } );
sub body ($path) { return $pair->get($path) =~ s/.*?\n\n//sr }

is $pair->get('/array'), "HTTP/1.1 200 OK\nX-A: 1\nX-A: 2\nContent-Length: 7\n\none two", 'an array';
like $pair->get( '/array', '', 'HEAD' ), qr/Content-Length: 7\n\n\z/, 'HEAD';
is $pair->get('/204'), "HTTP/1.1 204 No Content\n\n", 'no content';
is $pair->get('/205'), "HTTP/1.1 205 Reset Content\nContent-Length: 0\n\n", 'reset content';
is $pair->get('/304'), "HTTP/1.1 304 Not Modified\nContent-Length: 3\n\n", 'not modified';
is body('/long'), 'abc', 'a body beyond its length';
like $pair->warnings, qr/longer than its Content-Length/, 'which is logged';
is body('/array'), 'one two', 'and the next request is whole';
for my $path (qw(/die /text /undef /hash /nobody /inform /split /wide /lost /dies)) {
    like $pair->get($path), qr/\AHTTP\S+ 500 .*\n\nInternal Server Error\n\z/s, $path;
    like $pair->warnings, qr/\APSGI: /, "the log of $path";
}
is body('/delayed'), 'late', 'a delayed response';
is body('/twice'), 'once', 'a responder that is called twice';
like $pair->warnings, qr/called twice/, 'dies';
is body('/handle'), 'from a file', 'a handle';
is length body('/object'), 400_000, 'an object';
is delete $did{close}, 1, 'which is closed';
like $pair->get( '/object', '', 'HEAD' ), qr/\n\n\z/, 'HEAD of an object';
is delete $did{close}, 1, 'which is closed';
is body('/cleanup'), 'x', 'cleanup';
is $did{cleanup}, '/cleanup', 'its handler';
like $pair->warnings, qr/cleanup/, 'a handler that dies';
is body('/env') . body('/env'), 'nonenone', '%ENV';
$pair->send( PagiPair::request('/later') )->turn( sub { $kept{respond} } );
my $other = $pair->connect;
is $other->get('/array') =~ s/.*\n//sr, 'one two', 'another request meanwhile';
( delete $kept{respond} )->( [ 200, [], ['at last'] ] );
like $pair->response, qr/at last\z/, 'a response later';

for my $size ( 10, 65_536, 65_537, 300_000 ) {
    my $body = 'b' x $size;
    $pair->send( PagiPair::request( '/input', "Content-Length: $size\r\n", 'POST' ) );
    while ( length $body ) { $pair->{server}{loop}->loop_once(0); $pair->send( substr $body, 0, 50_000, '' ) }
    like $pair->response, qr/\n\n$size $size\z/, "a body of $size bytes";
}
ok eof $kept{input}, 'an input that is kept has its own body';

for my $path (qw(/short /dies2 /object2 /divided)) {
    my $stream = $pair->connect;
    $stream->send( PagiPair::request($path) )->turn( sub { $stream->read_some; $stream->{ended} } );
    like $stream->{in}, qr/\AHTTP\S+ 200/, "$path ends its stream";
}
like $pair->warnings, qr/6 bytes before.*broken after.*cannot read/s, 'the reasons';

$other->send( PagiPair::request('/later') )->turn( sub { $kept{respond} } );
close $other->{front};
$other->turn( sub { $other->{stream}{is_closed} } );
my $writer = ( delete $kept{respond} )->( [ 200, [] ] );
is $writer->write('x'), '', 'a responder after its client';

done_testing;
