# RegistryLoader: scripts compiled before the fork, found by file, by `trans` or below ServerRoot.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

if ( TestServer::in_server() ) {
    require Apache::RegistryLoader;
    my $root   = Apache->server_root_relative;
    my $loader = Apache::RegistryLoader->new( trans => sub ($uri) { $root . $uri =~ s{\A/s/}{perl/}r } );
    our @STATUS = (
        Apache::RegistryLoader->new->handler( '/s/file.pl', "${root}perl/file.pl" ),
        $loader->handler('/s/trans.pl'),
        Apache::RegistryLoader->new->handler('/perl/root.pl'),
        Apache::RegistryLoader->new->handler( '/s/host.pl', "${root}perl/host.pl", 'localhost' ),
        Apache::RegistryLoader->new->handler('/s/none.pl'),
        Apache::RegistryLoader->new->handler( '/s/broken.pl', "${root}perl/broken.pl" ),
    );
    return 1;
}

use Test::More;

my $SHOW  = 'print "Content-type: text/plain\n\n"; BEGIN { $pid = $$ } print __PACKAGE__, $pid == $$ ? " late" : " early";';
my @SCRIPTS = map { ( "perl/$_.pl" => $SHOW ) } qw(file trans root host other);
my @OTHERS  = ( 'perl/broken.pl' => 'my $x = ;', 'perl/status.pl' => 'print "Content-type: text/plain\n\n@main::STATUS"' );

sub server ($more) {
    return TestServer->spawn( <<"CONF", @SCRIPTS, @OTHERS );
Alias /s/ \@ROOT\@/perl/
<Directory \@ROOT\@/perl>
    SetHandler perl-script
    PerlHandler Apache::Registry
    PerlSendHeader On
    Options +ExecCGI
</Directory>
$more
CONF
}

my $server = server('');
my %shown  = (
    '/s/status.pl'  => '200 200 200 200 404 500',
    '/s/file.pl'    => 'Apache::ROOT::s::file_2epl early',
    '/s/trans.pl'   => 'Apache::ROOT::s::trans_2epl early',
    '/perl/root.pl' => 'Apache::ROOT::perl::root_2epl early',
    '/s/root.pl'    => 'Apache::ROOT::s::root_2epl late',
    '/s/host.pl'    => 'Apache::ROOT::s::host_2epl late',
    '/s/other.pl'   => 'Apache::ROOT::s::other_2epl late',
);
is $server->get($_)->{content}, $shown{$_}, $_ for sort keys %shown;

my $virtual = server("<VirtualHost *>\nServerName localhost\n</VirtualHost>");
is $virtual->get('/s/host.pl')->{content}, 'Apache::ROOTlocalhost::s::host_2epl early', 'for a virtual host';
is $virtual->get('/s/file.pl')->{content}, 'Apache::ROOTlocalhost::s::file_2epl late', 'the virtual host has its own script';

my $shared = server("<VirtualHost *>\nServerName localhost\n</VirtualHost>\nPerlEval \"\$Apache::Registry::NameWithVirtualHost = 0\"");
is $shared->get('/s/file.pl')->{content}, 'Apache::ROOT::s::file_2epl early', '$NameWithVirtualHost = 0: all hosts share';

done_testing;
