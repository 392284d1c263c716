package Bench::Hello;

use strict;
use warnings;
use Apache::Constants qw(OK);

my $TEXT = "Hello, World\n";

sub handler {
    my $r = shift;

    $r->content_type('text/plain');
    $r->header_out('Content-Length' => length $TEXT);
    $r->send_http_header;
    $r->print($TEXT);
    return OK;
}

1;
