package Faults::ModPerl2;

use strict;
use warnings;

use Apache2::Const -compile => 'OK';
use Apache2::RequestIO  ();
use Apache2::RequestRec ();
use Apache2::RequestUtil ();
use APR::Table ();
use Faults              ();

sub handler {
    my $r = shift;
    $r->content_type('text/plain');
    Faults::answer( bless( { r => $r }, __PACKAGE__ ), $r->uri, $r->args );
    return Apache2::Const::OK;
}

sub begin {
    my ( $self, $length ) = @_;
    $self->{r}->headers_out->set( 'Content-Length' => $length );
}

sub write { $_[0]{r}->print( $_[1] ) }

1;
