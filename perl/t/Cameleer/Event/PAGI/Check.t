# Checks of the fields of events.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

sub error ($code) { eval { $code->(); 1 } ? 'none' : $@ =~ s/\n//r }
sub of    (%fields) { return { type => 't', %fields } }

for (
    [ 'type', 5,  '$send needs a reference to a hash, the event' ],
    [ 'type', {}, 'an event needs a type' ],
    [ 'type', { type => [] }, 'an event needs a type' ],
    [ 'status', of(), 't: status is missing' ],
    [ 'status', of( status => 'x' ),   't: status is not a non-negative integer' ],
    [ 'status', of( status => 2.5 ),   't: status is not a non-negative integer' ],
    [ 'status', of( status => 101 ),   't: status is 101, expected 200 to 999' ],
    [ 'status', of( status => "200\n" ), 't: status is not a non-negative integer' ],
    [ 'headers', of( headers => 'x' ), 't: headers is not a reference to an array' ],
    [ 'headers', of( headers => ['x'] ),              't: a header is not a pair of name and value' ],
    [ 'headers', of( headers => [ ['x'] ] ),          't: a header is not a pair of name and value' ],
    [ 'headers', of( headers => [ [ 'x', undef ] ] ), 't: the value of the header x is not a string' ],
    [ 'headers', of( headers => [ [ 'x', "a\0" ] ] ), 't: the value of the header x has a line break or a NUL' ],
    [ 'headers', of( headers => [ [ 'x', "a\n" ] ] ), 't: the value of the header x has a line break or a NUL' ],
    [ 'headers', of( headers => [ [ 'x', "\x{100}" ] ] ), 't: the value of the header x has characters above 255' ],
    ( map { [ 'headers', of( headers => [ [ $_, 'x' ] ] ), 't: the name of a header is not a token' ] } '', "a\n", 'a b', "a:", "a\x01", "\x{fc}" ),
) {
    my ( $name, $event, $expected ) = @$_;
    my $sub = Cameleer::Event::PAGI::Check->can($name);
    is error( sub { $sub->($event) } ), "PAGI: $expected", $expected;
}
is_deeply [ Cameleer::Event::PAGI::Check::headers( of( headers => [ [ 'X-A', "\xff" ], [ 'x-a', '' ] ] ) ) ], [ [ 'x-a', "\xff" ], [ 'x-a', '' ] ], 'names become lower case';
is Cameleer::Event::PAGI::Check::seconds( of( a => $_ ), 'a' ), $_, "seconds: $_" for 0, 1, 2.5, '.5', '1e-3';
like error( sub { Cameleer::Event::PAGI::Check::seconds( of( a => $_ ), 'a' ) } ), qr/not a number of seconds/, "no seconds: $_" for -1, 'x', 'inf', 'nan', '';
is Cameleer::Event::PAGI::Check::bytes( of( a => "\x{ff}" . chop( my $wide = "\x{100}" ) =~ s/.//r ), 'a' ), "\xff", 'bytes are bytes, whatever the form of the string';

done_testing;
