#!/usr/bin/perl
use strict;
use warnings;
use DBI;

# Reads from a database. Apache::DBI, if loaded, caches the connection.
my $db = DBI->connect( "dbi:SQLite:$ENV{EXPERIMENT_DATABASE}", '', '', { RaiseError => 1 } );
my ($hits) = $db->selectrow_array('SELECT n FROM hits');
print "Content-Type: text/plain\n\nhit\n";
