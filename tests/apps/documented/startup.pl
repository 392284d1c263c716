use strict;
use lib '@DIR@/lib';

use GTop ();
use Apache::DBI ();
use CGI     ();
CGI->compile(':all');
use Shop::Prices ();

DBI->install_driver('SQLite');
Apache::DBI->connect_on_init( 'dbi:SQLite:dbname=@DIR@/shop.db', '', '', { RaiseError => 1, AutoCommit => 1 } )
    or die $DBI::errstr;

Apache->push_handlers( PerlChildInitHandler => \&Shop::Prices::reserve );

$Apache::SizeLimit::CHECK_EVERY_N_REQUESTS = 2;
$Apache::SizeLimit::MAX_PROCESS_SIZE       = 4_000_000;

use File::Find qw(find);
use Apache::RegistryLoader ();
{
    my $loader = Apache::RegistryLoader->new( trans => sub { my $uri = shift; $uri =~ s{^/perl/}{@DIR@/perl/}; $uri } );
    find( sub {
        return unless /\.pl$/ and not -l;
        ( my $uri = $File::Find::name ) =~ s{^@DIR@}{};
        my $status = $loader->handler($uri);
        warn "preloaded $uri: $status\n";
    }, '@DIR@/perl' );
}
1;
