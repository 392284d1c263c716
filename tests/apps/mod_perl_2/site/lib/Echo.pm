package Echo;

# Responds with the request's body.

use v5.36;
use Apache2::RequestRec ();
use Apache2::RequestIO  ();

sub handler ($r) {
    my $body = '';
    1 while $r->read( $body, 8192, length $body );
    $r->content_type('text/plain');
    $r->print("got $body");
    return 0;
}

1;
