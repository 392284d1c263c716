# RegistryNG, RegistryBB, PerlRun, PerlRunXS: each does exactly its own steps. The names of their packages.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

# A subclass, as sites wrote them for mod_perl 1.
package My::Upper {
    no feature 'signatures';
    our @ISA = ('Apache::RegistryNG');

    sub handler ($$) {    ## no critic: the prototype says that it is a method
        my ( $class, $r ) = @_;
        return $class->Apache::RegistryNG::handler($r);
    }

    sub readscript {
        my $self = shift;
        my $code = $self->SUPER::readscript;
        $$code =~ s/lower/UPPER/g;
        return $code;
    }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::RegistryNG;
    return 1;
}

use Test::More;

my $HEAD = "#!/usr/bin/perl\nprint qq{Content-type: text/plain\\n\\n};\n";
my $SHOW = $HEAD . 'our $n; use Cwd (); print join "|", __PACKAGE__, ++$n, Cwd::getcwd(), $0, "lower", scalar @_;';

my %files = (
    'perl/show.pl'    => $SHOW,
    'perl/end.pl'     => $HEAD . 'print "run"; END { print " end" }',
    'perl/exit.pl'    => $HEAD . 'print "run"; exit; END { print " end" }',
    'perl/die.pl'     => $HEAD . 'die "on purpose\n"',
    'perl/broken.pl'  => $HEAD . 'my $x = ;',
    'perl/data.pl'    => $HEAD . "print while <DATA>;\n__DATA__\none\n",
    'perl/status.pl'  => 'print "Status: 404 Gone\nContent-type: text/plain\n\nmine"',
    'perl/warn.pl'    => $HEAD =~ s/perl\n/perl -w\n/r . 'print $^W',
    'perl/library.pl' => $HEAD . 'require "./lib.pl"; print word()',
    'perl/lib.pl'     => 'sub word { "word" } 1;',
);

my $server = TestServer->spawn( <<'CONF', %files );
PerlSetEnv HOME_FOLDER @ROOT@
Alias /ng/    @ROOT@/perl/
Alias /again/ @ROOT@/perl/
Alias /bb/    @ROOT@/perl/
Alias /run/   @ROOT@/perl/
Alias /xs/    @ROOT@/perl/
Alias /upper/ @ROOT@/perl/
<Location />
    SetHandler perl-script
    PerlSendHeader On
    Options +ExecCGI
</Location>
<Location /ng>
    PerlHandler Apache::RegistryNG->handler
</Location>
<Location /again>
    PerlHandler Apache::RegistryNG
</Location>
<Location /bb>
    PerlHandler Apache::RegistryBB->handler
    Options None
</Location>
<Location /run>
    PerlHandler Apache::PerlRun
</Location>
<Location /xs>
    PerlHandler Apache::PerlRunXS
</Location>
<Location /upper>
    PerlHandler My::Upper
</Location>
CONF

my $root    = $server->{dir};
my $package = 'Apache::ROOT' . join '::', map { s/\A(\d)/sprintf '_%02x', ord $1/er } split m{/},
    "$root/perl/show.pl" =~ s{([^A-Za-z0-9_/])}{sprintf '_%02x', ord $1}ger;

sub shown ($path) { return $server->get($path)->{content} =~ s/\Q$root\E/ROOT/gr }

( my $ng = $package ) =~ s/\Q$root\E/ROOT/;
is shown('/ng/show.pl'),    "$package|1|ROOT/perl|ROOT/perl/show.pl|lower|1", 'NG: by file name, in its folder';
is shown('/again/show.pl'), "$package|2|ROOT/perl|ROOT/perl/show.pl|lower|1", 'NG: one package for two addresses';
like shown('/run/show.pl'), qr/\AApache::ROOT::run::show_2epl\|1\|/, 'PerlRun: by address';
like shown('/run/show.pl'), qr/\|1\|ROOT\/perl\|/, 'PerlRun: variables are fresh';
like shown('/xs/show.pl'),  qr/\AApache::ROOT::xs::show_2epl\|1\|/, 'PerlRunXS';
like shown('/upper/show.pl'), qr/\|lower\|/, 'a subclass: the package is compiled already';

$server->write( 'perl/new.pl', $SHOW );
like shown('/upper/new.pl'), qr/\|UPPER\|/, 'a subclass changes the text';

my @twice   = ( [ 'end.pl', 'run end' ], [ 'exit.pl', 'run end' ], [ 'data.pl', "one\n" ], [ 'warn.pl', 1 ], [ 'library.pl', 'word' ] );
my @refused = ( [ 'none.pl', 404 ], [ '', 403 ], [ 'die.pl', 500 ], [ 'broken.pl', 500 ], [ 'status.pl', 404 ] );
for my $family (qw(ng run xs)) {
    my @answers = $server->get_each( map {"/$family/$_->[0]"} map( { ( $_, $_ ) } @twice ), @refused );
    for my $case (@twice) { is shift(@answers)->{content}, $case->[1], "$family: $case->[0], run $_" for 1 .. 2 }
    is shift(@answers)->{status}, $_->[1], "$family: $_->[0]" for @refused;
}

chmod 0644, "$root/perl/show.pl";
is $server->get("/$_/show.pl")->{status}, 403, "$_: a file that is not executable" for qw(ng run xs);

$server->write( 'perl/bare.pl', $SHOW, 0644 );
like shown('/bb/bare.pl'), qr/\|1\|(?!ROOT\/perl)/, 'BB: neither mode nor ExecCGI nor folder';
$server->write( 'perl/bare.pl', $SHOW =~ s/lower/changed/r, 0644 );
like shown('/bb/bare.pl'), qr/\|2\|.*\|lower\|/, 'BB: a change is not seen';
unlink "$root/perl/bare.pl";
like shown('/bb/bare.pl'), qr/\|3\|/, 'BB: the existence of the file is not checked';
is $server->get('/bb/none.pl')->{status}, 404, 'BB: a file that never was there';

$server->write( 'perl/show.pl', $SHOW =~ s/lower/changed/r );
like shown('/ng/show.pl'), qr/\|changed\|/, 'NG: a change is seen';
like $server->log, qr/on purpose$/m;
like $server->log, qr/syntax error at \S+broken\.pl line 3/, 'the line is the file\'s';
unlike $server->log, qr/redefined|uninitialized/;

done_testing;
