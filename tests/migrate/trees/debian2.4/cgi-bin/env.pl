#!/usr/bin/perl
use strict;
print "Content-type: text/plain\n\ncgi $ENV{SERVER_NAME}\n";
