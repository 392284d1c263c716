# Apache2::FilterRec: the name of a filter; run by packages.t

use v5.36;

return {
    name => [ sub ($r) { require Apache2::Filter; $r->add_output_filter( sub { -1 } ); $r->output_filters->frec->name }, qr/modperl_request_output/i ],
};
