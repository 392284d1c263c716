use strict;
use warnings;
use Bench::Burn;

my $TEXT = "Hello, World\n";

sub {
    my $env  = shift;
    my $text = $env->{PATH_INFO} eq '/work' ? Bench::Burn::text() : $TEXT;

    return [
        200,
        [ 'Content-Type' => 'text/plain', 'Content-Length' => length $text ],
        [$text],
    ];
};
