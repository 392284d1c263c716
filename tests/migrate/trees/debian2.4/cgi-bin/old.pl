#!/usr/bin/perl
use CGI::Camel::Humps;
print "Content-type: text/plain\n\n";
