# Writers of PSGI: pieces, back-pressure, and the end.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PSGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PSGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PsgiPair; PsgiPair::available() } or plan skip_all => 'IO::Async is not installed';
}

my $writer;
$SIG{__WARN__} = sub ($text) { push @PagiPair::WARNINGS, $text };
my $pair = PsgiPair->new( sub ($env) { sub ($respond) { $writer = $respond->( [ 200, [ $env->{QUERY_STRING} ? ( 'Content-Length' => $env->{QUERY_STRING} ) : () ] ] ) } } );
sub begin ( $target = '/' ) { $pair->send( PagiPair::request($target) )->turn( sub { $writer } ) }

begin();
is $pair->until(qr/\r\n\r\n\z/), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 'the head is sent at once';
ok $writer->write('abc'), 'a piece';
is $pair->until(qr/abc\r\n/), "3\r\nabc\r\n", 'is sent at once';
$writer->write($_) for '', undef;
$writer->close;
is $pair->until(qr/0\r\n\r\n/), "0\r\n\r\n", 'empty pieces are none, close is the end';
eval { $writer->write('x') };
is $@, "PSGI: write after close\n", 'write after close';
$writer->close;

my $old = $writer;
undef $writer;
begin('/?5');
eval { $old->write('foreign') };
$old->poll_cb( sub { $old->write('foreign') } );
$old->close;
$writer->write('12');
eval { $writer->write("\x{20ac}") };
like $@, qr/wide character/, 'a wide character';
$writer->write('345678');
$writer->close;
like $pair->until(qr/345/), qr/\A(?!.*(?:foreign|6)).*\r\n\r\n12345\z/s, 'a writer of another request changes nothing';
like $pair->warnings, qr/longer/, 'a longer body';

# Back-pressure: the front reads nothing at first.
undef $writer;
begin();
my ( $calls, $sent ) = ( 0, 0 );
$writer->poll_cb( sub ($writer) { $calls++; $sent += 100_000; $writer->write( 'x' x 100_000 ); if ( $sent >= 5_000_000 ) { $writer->poll_cb(undef); $writer->close } } );
$pair->{server}{loop}->loop_once(0) for 1 .. 50;
ok $sent < 1_000_000, "the application waits for a client that does not read: $sent";
undef $writer;
$pair->until(qr/0\r\n\r\n\z/);
is $calls, 50, 'and goes on when it does';
ok !$pair->{ended}, 'a writer that polls needs no other reference';

begin();
$writer->poll_cb( sub ($writer) { die "polled\n" } );
undef $writer;
$pair->until(qr/\z.\A/);
ok $pair->{ended}, 'a callback that dies ends the stream';
like $pair->warnings, qr/polled/, 'with its reason';

my $other = $pair->connect;
$other->send( PagiPair::request('/') )->turn( sub { $writer } );
undef $writer;
$other->until(qr/\z.\A/);
ok $other->{ended}, 'a writer that is lost ends the stream';
like $other->warnings, qr/lost its writer/, 'with a reason';

$other = $pair->connect;
$other->send( PagiPair::request('/') )->turn( sub { $writer } );
close $other->{front};
$other->turn( sub { !$writer->write('x') } );
pass 'write is false when the client has left';
$writer->close;

done_testing;
