use strict;
use warnings;
use Demo::Book;

# GET /api/count: the number on the front page.
sub {
    my $env = shift;
    return [ 404, [ 'Content-Type' => 'text/plain' ], ["There is only /api/count.\n"] ] unless $env->{PATH_INFO} eq '/count';
    my $count = Demo::Book::count();
    return [ 200, [ 'Content-Type' => 'application/json' ], [qq({"entries":$count,"worker":$$}\n)] ];
};
