package Bench::Content;

# The responses of the handlers of all servers, so that all do the same work.

use strict;
use warnings;
use DBI ();
use File::Basename qw(dirname);

my $page = "<html><head><title>Orders</title></head><body><table>\n";
for my $row (1 .. 5_000) {
    my $next = sprintf qq{<tr class="%s"><td>%d</td><td>Order %06d</td><td>%.2f</td></tr>\n},
        ($row % 2 ? 'odd' : 'even'), $row, $row * 7919 % 1_000_003, $row * 3.17;
    last if length($page) + length($next) > 99_970;
    $page .= $next;
}
$page .= "</table></body></html>\n";
$page .= ' ' x (100_000 - length $page);

sub page { $page }

# Each process has its own counter file: the benchmark compares work, not lock contention.
my $folder = dirname(dirname(dirname(__FILE__))) . '/db';
my ($owner, $count, $read) = (0);

sub hits {
    connect_db() if $owner != $$;
    $count->execute;
    $read->execute;
    my ($hits) = $read->fetchrow_array;
    $read->finish;
    return $hits > 0 ? "hits\n" : "none\n";
}

sub connect_db {
    $owner = $$;
    my $db = DBI->connect("dbi:SQLite:dbname=$folder/hits-$$.db", '', '', { RaiseError => 1, AutoCommit => 1 });
    $db->do('PRAGMA synchronous = OFF');
    $db->do('PRAGMA journal_mode = MEMORY');
    $db->do('CREATE TABLE IF NOT EXISTS hits (page TEXT PRIMARY KEY, hits INTEGER)');
    $db->do(q{INSERT OR IGNORE INTO hits VALUES ('/hits', 0)});
    $count = $db->prepare(q{UPDATE hits SET hits = hits + 1 WHERE page = '/hits'});
    $read  = $db->prepare(q{SELECT hits FROM hits WHERE page = '/hits'});
}

# Parses a query without a module.
sub split_query {
    my %value;
    for my $pair (split /[&;]/, shift) {
        my ($name, $value) = split /=/, $pair, 2;
        tr/+/ /, s/%([0-9a-fA-F]{2})/chr hex $1/ge for $name, $value;
        push @{ $value{$name} }, $value;
    }
    return \%value;
}

sub counted { my $pairs = shift; "$pairs pairs\n" }

1;
