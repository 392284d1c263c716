package Bench::ModPerl2::Params;

# libapreq2 is no longer packaged: the handler splits the query itself.

use strict;
use warnings;
use Apache2::Const -compile => qw(OK);
use Apache2::RequestIO  ();
use Apache2::RequestRec ();
use Apache2::Response   ();
use Bench::Content;

sub handler {
    my $r      = shift;
    my $query  = Bench::Content::split_query($r->args // '');
    my @values = map { $query->{$_}[0] } keys %$query;
    my $text   = Bench::Content::counted(scalar @values);

    $r->content_type('text/plain');
    $r->set_content_length(length $text);
    $r->print($text);
    return Apache2::Const::OK;
}

1;
