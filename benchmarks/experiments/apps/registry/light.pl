use strict;
my $r = shift;
$r->content_type('text/plain');
$r->send_http_header;
$r->print("Hello\n");
