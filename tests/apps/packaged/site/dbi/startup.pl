# Start-up code of the site of tests/apps/packaged/dbi.rs: a connection for each worker, and one that was opened before
# the fork.
use v5.36;
use DBI     ();
use Ledger ();

my @account = ( $ENV{LEDGER_DSN}, $ENV{LEDGER_USER}, '', { RaiseError => 1, PrintError => 0 } );

our $from_start_up = DBI->connect(@account);
Ledger::create($from_start_up);

Apache::DBI->connect_on_init(@account);
$Apache::DBI::DEBUG = 1;

1;
