#!/usr/bin/perl
use strict;
use warnings;

print "Content-Type: text/plain\nContent-Length: 13\n\n";
print "Hello, World\n";
