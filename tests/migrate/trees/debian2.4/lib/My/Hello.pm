package My::Hello;
use strict;
use Apache2::RequestRec ();
use Apache2::RequestIO  ();

sub handler {
    my $r = shift;
    $r->content_type('text/plain');
    $r->print("mod_perl 2\n");
    return 0;
}
1;
