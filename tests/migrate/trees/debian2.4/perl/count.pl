use strict;
my $r = shift;
print "Content-type: text/plain\n\nregistry ", $r->method, "\n";
