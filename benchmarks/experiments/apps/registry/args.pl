use strict;
my $r    = shift;
my %args = $r->args;
$r->content_type('text/plain');
$r->send_http_header;
$r->print( map { "$_=$args{$_}\n" } sort keys %args );
