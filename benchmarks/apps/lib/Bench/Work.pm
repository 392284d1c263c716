package Bench::Work;

use strict;
use warnings;
use Apache::Constants qw(OK);
use Bench::Burn;

sub handler {
    my $r    = shift;
    my $text = Bench::Burn::text();

    $r->content_type('text/plain');
    $r->header_out('Content-Length' => length $text);
    $r->send_http_header;
    $r->print($text);
    return OK;
}

1;
