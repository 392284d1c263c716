# The packages of perl/lib2, each tested by the file of the same name in this folder, all in one server.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use Cwd        ();
use File::Find ();
use TestServer;

my ($HERE) = Cwd::abs_path(__FILE__) =~ m{\A(.+)/}s;

# A match untaints the file names.
my @files;
File::Find::find( { no_chdir => 1, wanted => sub { push @files, $1 if m{\A\Q$HERE\E/(.+)\.pl\z}s } }, $HERE );
my %CASES = map { $_ => cases_of($_) } sort @files;

sub cases_of ($name) {
    my $cases = do "$HERE/$name.pl";
    return ref $cases eq 'HASH' ? $cases : die "$name.pl: ", $@ || $! || 'no hash of cases';
}

# The environment of a handler: only the module under test and the server's own modules are loaded.
package My::Cases {
    sub handler ($r) {
        my ( $name, $case ) = $r->path_info =~ m{\A/(.+)/(\w+)\z};
        my $said = eval { require "$name.pm"; $CASES{$name}{$case}[0]->($r) } // "died: $@";
        $r->print($said);
        return 0;
    }
}

package main;
if ( TestServer::in_server() ) {
    require Apache2::RequestRec;
    require Apache2::RequestIO;
    return 1;
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

for my $name ( sort keys %CASES ) {
    for my $case ( sort keys %{ $CASES{$name} } ) {
        my $answer = $server->post( "/case/$name/$case?a=1&b=2", 'c=3' );
        my ( undef, $expected ) = @{ $CASES{$name}{$case} };
        my $what = "$name: $case";
        ref $expected ? like( $answer->{content}, $expected, $what ) : is( $answer->{content}, $expected, $what );
    }
}
done_testing;
