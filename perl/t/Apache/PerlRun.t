# A script under PerlRun finds its variables as they are in a new process.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;
TestServer::in_server() and return 1;

use Test::More;

my $HEAD    = 'use warnings; print "Content-type: text/plain\n\n";';
my %scripts = (
    'cgi/global.pl' => "$HEAD our \$n; print ++\$n",
    'cgi/sub.pl'    => "$HEAD my \$x = 1; sub show { print \$x++ } show()",
    'cgi/exit.pl'   => "$HEAD our \@seen; push \@seen, 1; print scalar \@seen; exit",
    'cgi/const.pl'  => "$HEAD use constant ONE => 1; print ONE",
);
my $server = TestServer->spawn( <<'END', %scripts );
<Directory @ROOT@/cgi>
    SetHandler perl-script
    PerlHandler Apache::PerlRun
    Options +ExecCGI
    PerlSendHeader On
</Directory>
END

for my $script ( sort keys %scripts ) {
    is $server->get("/$script")->{content}, '1', "$script, run $_" for 1 .. 3;
}
is $server->get('/cgi/none.pl')->{status}, 404;
unlike $server->log, qr/redefined|uninitialized/;

done_testing;
