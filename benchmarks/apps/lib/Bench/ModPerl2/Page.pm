package Bench::ModPerl2::Page;

use strict;
use warnings;
use Apache2::Const -compile => qw(OK);
use Apache2::RequestIO  ();
use Apache2::RequestRec ();
use Apache2::Response   ();
use Bench::Content;

sub handler {
    my $r    = shift;
    my $text = Bench::Content::page();

    $r->content_type('text/html');
    $r->set_content_length(length $text);
    $r->print($text);
    return Apache2::Const::OK;
}

1;
