# A script that changes is compiled again; its variables stay, its old subs go.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

if ( TestServer::in_server() ) {
    require Apache::RegistryLoader;
    my $status = Apache::RegistryLoader->new->handler( '/cgi/loaded.pl', Apache->server_root_relative('cgi/loaded.pl') );
    our $preloaded = "$status $$";
    return 1;
}

use Test::More;

my $HEAD   = 'use warnings; print "Content-type: text/plain\n\n";';
my $server = TestServer->spawn( <<'END', 'cgi/loaded.pl' => "BEGIN { \$Main::pid = \$\$ } $HEAD print \$main::preloaded, ' ', \$Main::pid == \$\$ ? 'here' : 'before'" );
<Directory @ROOT@/cgi>
    SetHandler perl-script
    PerlHandler Apache::Registry
    Options +ExecCGI
    PerlSendHeader On
</Directory>
END

my @versions = (
    [ 'sub f { "one" } our $n = 1; print f(), $n',                   'one1' ],
    [ 'use constant C => 1; sub f { "two" } our $n; $n++; print f(), $n', 'two2' ],
    [ 'use constant C => 3; our $n; print defined &f ? "f" : "no f", C, $n', 'no f32' ],
);
my $second = 1_000_000;
for (@versions) {
    my ( $code, $expected ) = @$_;
    my $file = $server->write( 'cgi/v.pl', "$HEAD $code" );
    utime $second, $second++, $file;
    is $server->get('/cgi/v.pl')->{content}, $expected, $code;
}
unlike $server->log, qr/redefined/, 'no warnings of redefined subs';

my ( $status, $mold, $compiled ) = split / /, $server->get('/cgi/loaded.pl')->{content};
is $status,   200,      'RegistryLoader in a start-up file';
is $compiled, 'before', 'the worker inherits scripts compiled before the fork';

done_testing;
