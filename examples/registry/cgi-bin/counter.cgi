#!/usr/bin/perl
use strict;
use warnings;
use CGI;

# A classic CGI script. Compiled once, it finds its globals with the values from the last request of this worker.
our $runs;

my $q    = CGI->new;
my $name = $q->param('name') // 'visitor';
print $q->header('text/plain; charset=utf-8');
print "Hello, $name. This worker has run this script ", ++$runs, " times.\n";
