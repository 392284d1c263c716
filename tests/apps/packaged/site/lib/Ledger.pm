package Ledger;

# Inserts a row for each request into the database of LedgerDSN. Apache::DBI makes connect cheap.

use v5.36;
use Apache::Constants qw(OK NOT_FOUND);
use DBI ();

my $opened = 0;

my %ANSWERS = (
    '/add'     => \&add,
    '/count'   => \&count,
    '/leave'   => \&leave,
    '/startup' => \&at_start_up,
);

sub handler ($r) {
    my $answer = $ANSWERS{ $r->path_info } // return NOT_FOUND;
    my $text   = $answer->( $r, connected($r) );
    $r->send_http_header('text/plain');
    $r->print("worker=$$ opened=$opened $text\n");
    return OK;
}

sub connected ( $r, %attributes ) {
    my @account = ( $r->dir_config('LedgerUser') // '', '' );
    my $dbh     = DBI->connect( $r->dir_config('LedgerDSN'), @account, { RaiseError => 1, PrintError => 0, %attributes } );
    $dbh->{private_ledger_seen}++ or $opened++;
    return $dbh;
}

sub create ($dbh) { return $dbh->do('create table if not exists ledger (worker integer, note varchar(40))') }

# Disconnects as scripts written for CGI do, which must not close the connection.
sub add ( $r, $dbh ) {
    $dbh->do( 'insert into ledger values (?, ?)', undef, $$, scalar $r->args );
    $dbh->disconnect;
    return 'added';
}

sub count ( $r, $dbh ) {
    my ($rows) = $dbh->selectrow_array( 'select count(*) from ledger where note = ?', undef, scalar $r->args );
    return "rows=$rows";
}

# Ends in the middle of a transaction.
sub leave ( $r, $dbh ) {
    $dbh->begin_work;
    $dbh->do( 'insert into ledger values (?, ?)', undef, $$, 'left' );
    die "in the middle of a transaction\n";
}

# Uses the connection of startup.pl, so often that two processes on one connection would get each other's answers.
sub at_start_up ( $r, $dbh ) {
    my $handle = $main::from_start_up;
    for my $number ( map { 1000 * $$ + $_ } 1 .. 50 ) {
        my ($said) = $handle->selectrow_array("select $number");
        return "asked for $number, was told $said" if $said != $number;
    }
    my ($session) = $handle->selectrow_array( $r->dir_config('LedgerSession') );
    return "session=$session";
}

1;
