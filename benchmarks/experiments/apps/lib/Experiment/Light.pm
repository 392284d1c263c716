package Experiment::Light;

# A few words, by a handler that mod_perl 1 and, with its compatibility layer, mod_perl 2 understand.
use strict;
use warnings;

sub handler {
    my $r = shift;
    $r->content_type('text/plain');
    $r->send_http_header;
    $r->print("Hello\n");
    return 0;
}

1;
