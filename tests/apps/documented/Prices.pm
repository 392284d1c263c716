package Shop::Prices;
use strict;
use Apache::Constants qw(:common);

our %Price = map { ( "item$_" => $_ * 10 ) } 1 .. 2000;
our $Reserved;

sub reserve { $Reserved = ' ' x 10_000; $Reserved = "$$"; return OK }

sub handler {
    my $r = shift;
    $r->send_http_header('text/plain');
    $r->print( join ' ', $r->uri, scalar( keys %Price ), $r->dir_config('Currency'), $Reserved == $$ ? 'reserved' : 'bare' );
    return OK;
}

sub environment {
    my $r = shift;
    $r->send_http_header('text/plain');
    print "$_=$ENV{$_}\n" for sort keys %ENV;
    return OK;
}

1;
