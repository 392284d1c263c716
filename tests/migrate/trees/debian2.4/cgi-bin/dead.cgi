#!/usr/local/bin/perl5.005
print "Content-type: text/plain\n\n";
