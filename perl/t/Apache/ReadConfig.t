# Apache::ReadConfig: the variables of <Perl> sections become the configuration, and are gone after each section.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

package My::Read {
    sub handler ($r) {
        no strict 'refs';    # a name in code would hold the variable
        $r->print( join '|', $r->dir_config('color') // 'none', $r->dir_config('size') // 'none', defined ${'Apache::ReadConfig::Timeout'} ? 'left' : 'gone', scalar keys %{'Apache::ReadConfig::Location'} );
        return 0;
    }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'pics/a.txt' => 'a picture' );
<Perl>
$Timeout = 77;
@Alias = ( '/pics/', '@ROOT@/pics/' );
for my $name (qw(red green)) {
    $Location{"/$name"} = { SetHandler => 'perl-script', PerlHandler => 'My::Read', PerlSetVar => [ [ color => $name ], [ size => 3 ] ] };
}
$Location{'/code'} = { SetHandler => 'perl-script', PerlHandler => sub { $_[0]->print( 'by code ', $_[0]->server->timeout ); 0 } };
$PerlConfig = "<Location /literal>\nSetHandler perl-script\nPerlHandler My::Read\n</Location>";
$own = 'no directive';
</Perl>
CONF
is $server->get('/red')->{content},        'red|3|gone|0',   'a hash is sections, a list of lists is lines';
is $server->get('/green')->{content},      'green|3|gone|0', 'each key is a section';
is $server->get('/code')->{content},       'by code 77',     'a code reference is a handler, a scalar the rest of a line';
is $server->get('/pics/a.txt')->{content}, 'a picture',      'a list is one line';
is $server->get('/literal')->{content}, 'none|none|gone|0', '$PerlConfig is literal lines';

my %SAID = (
    '$Timeoutt = 5;'                                => qr/Timeoutt is no directive and is ignored; \$Apache::Server::StrictPerlSections = 1 makes it an error/,
    '$Apache::Server::StrictPerlSections = 1; $Timeoutt = 5;' => qr/site\.conf:\d+: .*Timeoutt/,
    '$Timeout = "soon";'                            => qr/site\.conf:\d+: .*Timeout/,
    '%Timeout = ( a => {} );'                       => qr/site\.conf:\d+: .*%Timeout: Timeout is not a section; use \$Timeout or \@Timeout/,
    '$Location{"/x"} = "text";'                     => qr/site\.conf:\d+: .*\$Location\{'\/x'\}: expected a hash of directives/,
    'die "on purpose\n";'                           => qr/site\.conf:\d+: <Perl>: on purpose/,
    '1 +;'                                          => qr/site\.conf:\d+: .*syntax error/,
);
like +TestServer->check("<Perl>\n$_\n</Perl>\n"), $SAID{$_}, $_ for sort keys %SAID;

done_testing;
