package Bench::ModPerl2::Hello;

use strict;
use warnings;
use Apache2::Const -compile => qw(OK);
use Apache2::RequestIO  ();
use Apache2::RequestRec ();
use Apache2::Response   ();

my $TEXT = "Hello, World\n";

sub handler {
    my $r = shift;

    $r->content_type('text/plain');
    $r->set_content_length(length $TEXT);
    $r->print($TEXT);
    return Apache2::Const::OK;
}

1;
