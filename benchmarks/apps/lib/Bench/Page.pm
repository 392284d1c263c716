package Bench::Page;

use strict;
use warnings;
use Apache::Constants qw(OK);
use Bench::Content;

sub handler {
    my $r    = shift;
    my $text = Bench::Content::page();

    $r->content_type('text/html');
    $r->header_out('Content-Length' => length $text);
    $r->send_http_header;
    $r->print($text);
    return OK;
}

1;
