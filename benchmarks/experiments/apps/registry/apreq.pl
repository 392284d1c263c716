use strict;
use Apache::Request ();
my $r = Apache::Request->new(shift);
$r->send_http_header('text/plain');
$r->print( map { $_ . '=' . $r->param($_) . "\n" } sort $r->param );
