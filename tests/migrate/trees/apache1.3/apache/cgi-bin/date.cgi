#!/usr/bin/perl
print "Content-type: text/plain\n\ncgi of 2003\n";
