# Checks of responses.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/PSGI/[^/]+\z}{lib}r;
use Test::More;

use Cameleer::PSGI;
use Cameleer::Event::PSGI::Response;

sub checked ( $response, $is_delayed = 0 ) {
    return eval { Cameleer::Event::PSGI::Response::check( $response, $is_delayed ); 1 } ? 'fine' : $@ =~ s/\n\z//r;
}
is checked( [ 200, [], [] ] ), 'fine', 'an array';
is checked( [ 200, [], \*STDIN ] ), 'fine', 'a handle';
is checked( [ 200, [] ] ), 'PSGI: the application returned a ARRAY, not a response', 'a response without a body';
is checked( [ 200, [] ], 1 ), 'fine', 'of a responder';
is checked(undef), 'PSGI: the application returned undef, not a response', 'undef';
is checked( [ 200, {}, [] ] ), 'PSGI: expected a status and an array of headers', 'headers';
is checked( [ 200, [], 'text' ] ), 'PSGI: the body is the string "text", neither an array nor an object with getline', 'a body';

sub status ($status) { return eval { Cameleer::Event::PSGI::Response::status($status) } // $@ =~ s/\n\z//r }
is status('404 Not Found'), 404, 'a status with its reason';
is status(101), 'PSGI: the application answered with status 101, which is informational', 'an informational status';
like status($_), qr/\APSGI: the status is .*, expected a number from 200 to 999\z/, 'no status' for undef, '', 'OK', 20, 2000;

my ( $text, $framing ) = Cameleer::Event::PSGI::Response::fields( [ 'X-A' => 1, 'Content-Length' => 5, 'X-A' => undef, Connection => 'close', 'Cameleer-X' => 1 ] );
is $text, "X-A: 1\r\nX-A: \r\n", 'fields';
is $framing->{'content-length'}, 5, 'the length';
for my $field ( [ 'X-A' => "1\n" ], [ 'X-A' => "1\0" ], [ "X-A\r" => 1 ], [ '' => 1 ], [ 'X A' => 1 ], [ undef, 1 ] ) {
    ok !eval { Cameleer::Event::PSGI::Response::fields($field); 1 }, 'a field that HTTP does not allow';
}
is Cameleer::Event::PSGI::Response::length_of( [ 'ab', undef, 'c' ] ), 3, 'the length of a body';

done_testing;
