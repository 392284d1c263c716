package Bench::ModPerl2::Upper;

# Converts a page to upper case: a stream filter, as in the manual of mod_perl 2.

use strict;
use warnings;
use Apache2::Const -compile => qw(OK);
use Apache2::Filter     ();
use Apache2::RequestRec ();
use APR::Table          ();

sub handler {
    my $f = shift;

    if ( !$f->ctx ) {
        $f->r->headers_out->unset('Content-Length');
        $f->ctx(1);
    }
    while ( $f->read( my $text, 8192 ) ) {
        $text =~ tr/a-z/A-Z/;
        $f->print($text);
    }
    return Apache2::Const::OK;
}

1;
