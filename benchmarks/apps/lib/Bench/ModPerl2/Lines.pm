package Bench::ModPerl2::Lines;

use strict;
use warnings;
use APR::Const -compile => qw(SO_NONBLOCK);
use APR::Socket         ();
use Apache2::Connection ();
use Apache2::Const -compile => qw(OK);

# A protocol other than HTTP: echoes its input.
sub handler {
    my $c      = shift;
    my $socket = $c->client_socket;
    $socket->opt_set( APR::Const::SO_NONBLOCK, 0 );
    while ( $socket->recv( my $text, 1024 ) ) { $socket->send($text) }
    return Apache2::Const::OK;
}

1;
