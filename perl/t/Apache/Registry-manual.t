# Statements of the manuals of Apache::Registry, PerlRun, RegistryLoader, Debug, SIG and fork (mod_perl 1.31,
# lib/Apache/*.pm) and of related documents about scripts. Each case names its source.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

if ( TestServer::in_server() ) {
    # mod_perl_tuning.pod: "make sure we are in a sane environment"
    $ENV{GATEWAY_INTERFACE} =~ /^CGI-Perl/ or die "GATEWAY_INTERFACE not Perl!";
    require Apache::Registry;
    require Apache::RegistryLoader;
    require Apache::SIG;
    warn 'loaded: ', Apache::RegistryLoader->new->handler, "\n";
    return 1;
}

use Test::More;

my $head    = q{print "Content-Type: text/plain\n\n"; };
my %scripts = (
    # Registry.pm, SYNOPSIS: the example
    'hi.pl'      => q{my $r = Apache->request; $r->content_type("text/html"); $r->send_http_header; $r->print("Hi There!");},
    # Registry.pm: "emulates the CGI environment"
    'cgi.pl'     => q{print "Content-type: text/html\n\n"; print "Hi There!";},
    # Registry.pm, ENVIRONMENT
    'env.pl'     => $head . q{print "$ENV{GATEWAY_INTERFACE} $0 @ARGV";},
    # Registry.pm, ENVIRONMENT: exit is overridden
    'exit.pl'    => $head . q{print 'before'; exit; print 'after';},
    # mod_perl_traps.pod: "run in a unique namespace based on the requested uri"
    'name.pl'    => $head . q{print __PACKAGE__;},
    # Registry.pm: "Each child will compile the subroutine once and store it in memory"
    'count.pl'   => $head . q{our $n; BEGIN { $compiled++ } print ++$n, ' of ', $compiled;},
    # Registry.pm, COMMANDLINE SWITCHES
    'w.pl'       => "#!/usr/bin/perl -w\n$head" . q{print $^W;},
    't.pl'       => "#!/usr/bin/perl -wT\n$head" . q{print 'ran';},
    # Registry.pm, handler: "-r $filename && -s _", else NOT_FOUND
    'empty.pl'   => '',
    # mod_perl.c 1675: the exception of a script is in the notes of its request, for the script of the ErrorDocument
    'dies.pl'    => q{die "the reason\n";},
    'notes.pl'   => $head . q{my $r = shift; print $r->prev->notes('error-notes');},
    # Registry.pm, SECURITY: the folder is the script's
    'here.pl'    => $head . q{print -e 'here.pl' ? 'here' : 'elsewhere';},
    # PerlRun.pm: "it's namespace is flushed of all variables and subroutines"
    'dirty.pl'   => $head . q{$n++; print $n;},
    # cgi_to_mod_perl.pod, NPH SCRIPTS
    'nph-x.pl'   => q{local $| = 1; print "HTTP/1.0 200 OK\nContent-Type: text/x-nph\n\nby hand";},
    # fork.pm: fork and forkoption are exported; the child's exit ends the child
    'fork.pl'    => $head . q{use Apache::fork; $| = 1; print forkoption(1), forkoption(3); my $pid = fork; if (!$pid) { print ' child'; exit } waitpid $pid, 0; print ' parent';},
    # SIG.pm: the variable SIGPIPE of the request
    'pipe.pl'    => $head . q{print 'x'; kill PIPE => $$; sleep 5;},
    'endless.pl' => $head . q{my $r = shift; for (1 .. 200) { print 'x' x 65536; last unless $r->print('y'); select undef, undef, undef, 0.01 }},
);

my $server = TestServer->spawn( <<'CONF', map { ( "perl/$_" => $scripts{$_} ) } keys %scripts );
LogFormat "%U %{SIGPIPE}e" pipes
CustomLog pipe.log pipes
Alias /perl/ @ROOT@/perl/
Alias /run/ @ROOT@/perl/
<LocationMatch ^/(perl|run)>
    SetHandler perl-script
    PerlHandler Apache::Registry
    PerlFixupHandler Apache::SIG
    Options +ExecCGI
    PerlSendHeader On
</LocationMatch>
<Location /run>
    PerlHandler Apache::PerlRun
</Location>
<Location /perl/dies.pl>
    ErrorDocument 500 /perl/notes.pl
</Location>
# cgi_to_mod_perl.pod, NPH SCRIPTS
<Files */nph-*>
    PerlSendHeader Off
</Files>
CONF

sub text ($path) { return $server->get($path)->{content} }

my $dir = "$server->{dir}/perl";
my @cases = (
    [ 'perl/hi.pl',        'Hi There!',                            'Registry.pm, DESCRIPTION: $r in a script' ],
    [ 'perl/cgi.pl',       'Hi There!',                            'Registry.pm, DESCRIPTION: looks exactly like CGI' ],
    [ 'perl/env.pl?a+b',   "CGI-Perl/1.1 $dir/env.pl a b",         'Registry.pm, ENVIRONMENT' ],
    [ 'perl/exit.pl',      'before',                               'Registry.pm, ENVIRONMENT: exit' ],
    [ 'perl/name.pl',      'Apache::ROOT::perl::name_2epl',        'mod_perl_traps.pod: a unique namespace' ],
    [ 'perl/count.pl',     '1 of 1',                               'Registry.pm, DESCRIPTION: compiled' ],
    [ 'perl/count.pl',     '2 of 1',                               'Registry.pm, DESCRIPTION: once' ],
    [ 'perl/w.pl',         '1',                                    'Registry.pm, COMMANDLINE SWITCHES: -w' ],
    [ 'perl/t.pl',         'ran',                                  'Registry.pm, COMMANDLINE SWITCHES: -T' ],
    [ 'perl/here.pl',      'here',                                 'Registry.pm, handler: chdir_file' ],
    [ 'run/dirty.pl',      '1',                                    'PerlRun.pm, DESCRIPTION: compiled' ],
    [ 'run/dirty.pl',      '1',                                    'PerlRun.pm, DESCRIPTION: and flushed' ],
    [ 'run/exit.pl',       'before',                               'mod_perl_traps.pod: exit in PerlRun' ],
    [ 'run/w.pl',          '1',                                    'PerlRun.pm, parse_cmdline: -w' ],
    [ 'perl/dies.pl',      'the reason',                           'mod_perl.c: error-notes' ],
    [ 'perl/fork.pl',      '31 child parent',                      'fork.pm, TOGGLING: "Default is 3", and fork is exported' ],
    [ 'perl/nph-x.pl',     'by hand',                              'cgi_to_mod_perl.pod, NPH SCRIPTS' ],
);
is text("/$_->[0]"), $_->[1], $_->[2] for @cases;

is $server->get('/perl/empty.pl')->{status}, 404, 'Registry.pm, handler: an empty file is not found';
my $ignored = "T switch ignored, enable with 'PerlTaintCheck On'";
is $server->log =~ /$ignored/ ? 0 : 1, TestServer::is_tainted(), 'Registry.pm, COMMANDLINE SWITCHES: a line for -T';
like $server->log . $server->slurp('output'), qr/uri is a required parameter/, 'RegistryLoader.pm, handler: without a URI';

# Registry.pm, DESCRIPTION: "It will recompile it whenever the file is updated on disk"
$server->write( 'perl/hi.pl', $head . 'print "updated"' );
is text('/perl/hi.pl'), 'updated', 'Registry.pm, DESCRIPTION: updated on disk';

text('/perl/pipe.pl');
$server->leave('/perl/endless.pl');
ok $server->wait_for( 'the log', sub { $server->slurp('pipe.log') =~ m{^/perl/endless\.pl 1$}m } ),
    'SIG.pm, DESCRIPTION: the log tells of a client that left';
like $server->slurp('pipe.log'), qr{^/perl/pipe\.pl 1$}m, 'SIG.pm, DESCRIPTION: and of a SIGPIPE';
like $server->slurp('pipe.log'), qr{^/perl/env\.pl -$}m,  'SIG.pm, DESCRIPTION: "otherwise it will just be a dash"';

# Registry.pm, DEBUGGING; Debug.pm, import: level is its bitmask
my $debugged = TestServer->spawn( <<'CONF', 'perl/good.pl' => $head . 'print 1', 'perl/dies.pl' => 'die "the <reason>\n"' );
PerlEval "use Apache::Debug level => 7"
Alias /perl/ @ROOT@/perl/
<Location /perl>
    SetHandler perl-script
    PerlHandler Apache::Registry
    Options +ExecCGI
    PerlSendHeader On
</Location>
CONF
$debugged->get('/perl/good.pl');
like $debugged->log, qr/Compiled package "Apache::ROOT::perl::good_2epl" for process \d+/, 'Registry.pm, DEBUGGING: 1';
like $debugged->log, qr{Apache::Registry::handler for \S+/good\.pl in process \d+},       'Registry.pm, DEBUGGING: 4';
my $page = $debugged->get('/perl/dies.pl');
is $page->{status}, 500, 'Registry.pm, DEBUGGING: 2';
like $page->{content}, qr/the &lt;reason&gt;.*dies\.pl/s, 'Debug.pm: the page shows reason and stack';

done_testing;
