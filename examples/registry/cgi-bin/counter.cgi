#!/usr/bin/perl
use strict;
use warnings;
use CGI;

# A CGI script as of old. Kept compiled, it finds its globals as the last request of this worker left them.
our $runs;

my $q    = CGI->new;
my $name = $q->param('name') // 'visitor';
print $q->header('text/plain; charset=utf-8');
print "Hello, $name. This worker has run this script ", ++$runs, " times.\n";
