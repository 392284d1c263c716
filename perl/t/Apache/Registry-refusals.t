# Scripts that are not run, and scripts that fail.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn( <<'END', 'cgi/good.pl' => 'print "Content-type: text/plain\n\ngood"', 'off/good.pl' => 'print 1' );
<Directory @ROOT@/cgi>
    SetHandler perl-script
    PerlHandler Apache::Registry
    Options +ExecCGI
    PerlSendHeader On
</Directory>
<Directory @ROOT@/off>
    SetHandler perl-script
    PerlHandler Apache::Registry
</Directory>
END

$server->write( 'cgi/plain.pl',    'print 1',                       0644 );
$server->write( 'cgi/broken.pl',   "\n\nmy \$x = ;\n" );
$server->write( 'cgi/dies.pl',     "\nsub f { die 'oops' }\nf();\n" );
$server->write( 'cgi/silent.pl',   '1' );
$server->write( 'cgi/headless.pl', 'print "<html>\n\n"' );
$server->write( 'cgi/folder/x',    '' );

my @cases = (
    [ '/cgi/none.pl',     404, qr/none\.pl failed .*no such file/ ],
    [ '/cgi/plain.pl',    403, qr/plain\.pl failed .*not executable/ ],
    [ '/off/good.pl',     403, qr/off\/good\.pl failed .*ExecCGI/ ],
    [ '/cgi/broken.pl',   500, qr/syntax error at \S+broken\.pl line 3/ ],
    [ '/cgi/dies.pl',     500, qr/oops at \S+dies\.pl line 2\./ ],
    [ '/cgi/silent.pl',   500, qr/Premature end of script headers: \S+silent\.pl/ ],
    [ '/cgi/headless.pl', 500, qr/Bad header=<html>: \S+headless\.pl/ ],
    [ '/cgi/good.pl',     200, qr// ],
);
for (@cases) {
    my ( $path, $status, $log ) = @$_;
    is $server->get($path)->{status}, $status, $path;
    like $server->log, $log, "the log has the reason";
}

# A permission that was checked is checked again after any change of the file.
$server->write( 'cgi/good.pl', 'print "Content-type: text/plain\n\ngood"', 0644 );
is $server->get('/cgi/good.pl')->{status}, 403, 'no longer executable' for 1 .. 2;
$server->write( 'cgi/good.pl', 'print "Content-type: text/plain\n\nbetter"' );
is $server->get('/cgi/good.pl')->{content}, 'better', 'executable again, and another script' for 1 .. 2;

done_testing;
