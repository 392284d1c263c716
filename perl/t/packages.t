# The packages of perl/lib, each tested by the file of the same name in this folder, all in one server. A package that
# needs a server of its own has a .t file of its name.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %CASES = TestServer::cases_beside(__FILE__);

TestServer::in_server() and return TestServer::serve_packages( \%CASES );

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'page.txt' => "a page\n", 'perl/script.pl' => "shift->print('of a script'); 0;\n" );
PerlSetEnv TEST_FOLDER @ROOT@
PerlSetVar Said once
PerlAddVar Said twice
<Location /case>
    SetHandler perl-script
    Options +ExecCGI
    PerlHandler My::Cases
</Location>
CONF

$server->check_packages( \%CASES );
done_testing;
