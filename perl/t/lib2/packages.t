# The packages of perl/lib2, each tested by the file of the same name in this folder, all in one server.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my %CASES = TestServer::cases_beside(__FILE__);

if ( TestServer::in_server() ) {
    require Apache2::RequestRec;
    require Apache2::RequestIO;
    return TestServer::serve_packages( \%CASES );
}

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'page.txt' => "a page\n", 'script.pl' => "shift->print('of a script');\n" );
PerlGeneration 2
PerlSetEnv TEST_FOLDER @ROOT@
PerlPassEnv TEST_DOOR
PerlSetVar Said once
PerlAddVar Said twice
<Location /case>
SetHandler modperl
PerlOptions +GlobalRequest +SetupEnv
Options +ExecCGI
PerlResponseHandler My::Cases
</Location>
CONF

$server->check_packages( \%CASES );
done_testing;
