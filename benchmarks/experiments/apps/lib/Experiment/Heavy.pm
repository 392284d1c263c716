package Experiment::Heavy;

# Like Experiment::Light, with some milliseconds of arithmetic.
use strict;
use warnings;

sub handler {
    my $r = shift;
    my $sum = 0;
    $sum += log( 1 + $_ ) for 0 .. 20_000;
    $r->content_type('text/plain');
    $r->send_http_header;
    $r->print("Hello\n");
    return 0;
}

1;
