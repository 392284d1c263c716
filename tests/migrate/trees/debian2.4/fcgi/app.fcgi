#!/usr/bin/perl
use FCGI;
my $request = FCGI::Request();
while ( $request->Accept >= 0 ) {
    print "Content-type: text/plain\n\nfastcgi\n";
}
