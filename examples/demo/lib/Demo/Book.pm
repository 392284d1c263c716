package Demo::Book;

use strict;
use warnings;
use DBI;
use Encode ();

# One connection for each worker: a handle that was opened before the fork belongs to another process.
my ( $dbh, $owner ) = ( undef, 0 );

sub db {
    return $dbh if $dbh && $owner == $$;
    my $file = $ENV{CAMELEER_DEMO_DB} || "/tmp/cameleer-demo-$>.db";
    $dbh = DBI->connect( "dbi:SQLite:dbname=$file", '', '', { RaiseError => 1, PrintError => 0, sqlite_unicode => 1, AutoInactiveDestroy => 1 } );
    $dbh->sqlite_busy_timeout(5000);
    $dbh->do('create table if not exists entry (id integer primary key, name text not null, message text not null, at integer not null)');
    $owner = $$;
    return $dbh;
}

sub add {
    my ( $name, $message ) = @_;
    return db()->do( 'insert into entry (name, message, at) values (?, ?, ?)', undef, $name, $message, time );
}

# The newest first: id, name, message, at.
sub newest {
    my ($limit) = @_;
    return db()->selectall_arrayref( 'select id, name, message, at from entry order by id desc limit ?', { Slice => {} }, $limit );
}

sub count {
    return db()->selectrow_array('select count(*) from entry');
}

# Characters to HTML as UTF-8 bytes.
sub html {
    my ($text) = @_;
    my %as = ( '&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;' );
    $text =~ s/([&<>"])/$as{$1}/g;
    return Encode::encode( 'UTF-8', $text );
}

1;
