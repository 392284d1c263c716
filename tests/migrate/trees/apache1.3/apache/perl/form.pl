use strict;
my $r = Apache->request;
my %in = $r->args;
print "Content-type: text/plain\n\n";
print "hello $in{name}\n";
