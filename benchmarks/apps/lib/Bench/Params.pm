package Bench::Params;

use strict;
use warnings;
use Apache::Constants qw(OK);
use Apache::Request ();
use Bench::Content;

sub handler {
    my $r     = shift;
    my $apr   = Apache::Request->new($r);
    my @values = map { scalar $apr->param($_) } $apr->param;
    my $text  = Bench::Content::counted(scalar @values);

    $r->content_type('text/plain');
    $r->header_out('Content-Length' => length $text);
    $r->send_http_header;
    $r->print($text);
    return OK;
}

1;
