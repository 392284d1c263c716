package Bookmarks;

use v5.36;
use DBI ();

# Apache::DBI caches the connection: after the first call connect is a hash lookup.
sub open ( $class, $folder ) {
    my $dbh = DBI->connect( "dbi:SQLite:dbname=$folder/bookmarks.db", '', '', { RaiseError => 1, PrintError => 0 } );
    $dbh->do('create table if not exists bookmark (id integer primary key, owner text, url text, title text, unique (owner, url))');
    return bless { dbh => $dbh }, $class;
}

# The owner's, by title: id, url, title.
sub of ( $self, $owner ) {
    my $sql = 'select id, url, title from bookmark where owner = ? order by title, id';
    return @{ $self->{dbh}->selectall_arrayref( $sql, { Slice => {} }, $owner ) };
}

# Returns an error message, or nothing.
sub add ( $self, $owner, $url, $title ) {
    return 'An address begins with http:// or https://.' unless $url =~ m{\Ahttps?://[^\s<>"]+\z};
    my $sql = 'insert or ignore into bookmark (owner, url, title) values (?, ?, ?)';
    my $new = $self->{dbh}->do( $sql, undef, $owner, $url, length $title ? $title : $url );
    return $new > 0 ? undef : 'You have this address already.';
}

# Deletes only bookmarks of the owner.
sub delete ( $self, $owner, $id ) {
    return $self->{dbh}->do( 'delete from bookmark where owner = ? and id = ?', undef, $owner, $id );
}

1;
