package Bench::Hits;

use strict;
use warnings;
use Apache::Constants qw(OK);
use Bench::Content;

sub handler {
    my $r    = shift;
    my $text = Bench::Content::hits();

    $r->content_type('text/plain');
    $r->header_out('Content-Length' => length $text);
    $r->send_http_header;
    $r->print($text);
    return OK;
}

1;
