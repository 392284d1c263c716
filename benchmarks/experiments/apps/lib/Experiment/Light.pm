package Experiment::Light;

# A small response, from a handler for mod_perl 1 and, with its compatibility layer, for mod_perl 2.
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
