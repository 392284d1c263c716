#!/usr/bin/perl
use strict;
use warnings;
use Fcntl qw(:flock :seek);

# A hit counter in a file.
open my $file, '+>>', '/dev/shm/cameleer-experiment-hits' or die $!;
flock $file, LOCK_EX;
seek $file, 0, SEEK_SET;
my $hits = ( <$file> || 0 ) + 1;
truncate $file, 0;
print {$file} $hits;
close $file;
print "Content-Type: text/plain\n\nhit\n";
