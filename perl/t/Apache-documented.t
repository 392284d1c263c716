# Methods in the PODs of the API exist, existing methods are in the PODs, and the synopses run in a worker.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

# Subs that only Cameleer's own code calls, in packages that sites use, and subs that another module defines and
# documents.
my %OWN = (
    'Apache'                  => 'cgi_var env_table expects_header forget give_up has_file number read_body run_cleanups unwind
      want_cleanup clear_rgy_endav stash_rgy_endav parsed_uri',
    'Apache::PerlRun'         => 'answer failed in_place leave libraries open_data prepare',
    'Apache::Registry'        => 'cached enter explained go go_home leave look mtime output prepare refusal refuse run serve take_end_blocks words',
    'Apache::RegistryBB'      => 'can_compile chdir_file should_compile',
    'Apache::RegistryLexInfo' => 'differences dump_of for_each_lexical handler lexicals run run_end_blocks watch',
    'Apache::RegistryLoader'  => 'compile',
    'Apache::RegistryNG'      => 'answer namespace_from',
    'Apache::Scoreboard'      => 'ask complain',
    'Apache::Status'          => 'base handler head is_on is_there items query',
    map { $_ => 'new' } qw(Apache::Scoreboard::Server),
);
$OWN{$_} //= '' for qw(Apache::URI GTop);

my $LIB = __FILE__ =~ s{t/[^/]+\z}{lib}r;

# Packages whose synopsis is code that uses at most $r.
my @CODE = qw(Apache::URI GTop Apache::Scoreboard);

# Packages whose synopsis is configuration that runs scripts.
my @CONF = qw(Apache::Registry Apache::RegistryNG Apache::RegistryBB Apache::RegistryLexInfo Apache::PerlRun Apache::PerlRunXS);

my %CASES = (
    ( map { my $package = $_; ( "names/$package" => sub { join ' ', undocumented($package) } ) } keys %OWN ),
    ( map { my $package = $_; ( "runs/$package" => sub ($r) { runs( $r, $package ) } ) } @CODE ),
);

sub pod ($package) {
    open my $file, '<', "$LIB/" . $package =~ s{::}{/}gr . '.pm' or die "$package: $!\n";
    local $/ = undef;
    return <$file> =~ s/.*^__END__$//msr;
}

sub synopsis ($package) { return pod($package) =~ /^=head1 SYNOPSIS\n(.*?)^=/ms ? $1 : '' }

sub undocumented ($package) {
    my ( $pod, %own ) = ( pod($package), map { $_ => 1 } split ' ', $OWN{$package} );
    no strict 'refs';
    my @subs = grep { /\A[a-z]/ && defined &{"${package}::$_"} && !$own{$_} } keys %{"${package}::"};
    my @its  = grep { B::svref_2object( \&{"${package}::$_"} )->GV->STASH->NAME eq $package } @subs;
    return sort grep { $pod !~ /\b\Q$_\E\b/ } @its;
}

# The directives for scripts under a place of their own.
sub place ($package) {
    my @lines   = grep { /\S/ && !/^\s*(?:<|Alias)/ } split /\n/, synopsis($package);
    my @modules = grep { /PerlModule/ } @lines;
    my @inside  = grep { !/PerlModule/ } @lines;
    return join "\n", @modules, "Alias /$package/ \@ROOT\@/perl/", "<Location /$package>", @inside, '</Location>', '';
}

# Runs the synopsis as a handler that returns SERVER_ERROR if an object is missing.
sub runs ( $r, $package ) {
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    my $code = eval <<'HEAD' . synopsis($package) . '; return 0 }';
package My::Synopsis;
use Apache::Constants qw(SERVER_ERROR);
sub {
    my $r = shift;
HEAD
    return "$@" if !$code;
    open my $out, '>', \my $said or die "cannot open a file in memory: $!\n";
    my $client = select $out;
    my $status = eval { $code->($r) } // "died: $@";
    select $client;
    return @warnings || $status ? "$status @warnings" : length $said ? 'ok' : 'silent';
}

if ( TestServer::in_server() ) {
    require B;
    for my $package ( keys %OWN ) { require( $package =~ s{::}{/}gr . '.pm' ) }
    return TestServer::serve_cases( \%CASES );
}

use Test::More;

TestServer->check_cases( { map { $_ => /^names/ ? '' : 'ok' } keys %CASES } );

my $server = TestServer->spawn( join( '', map { place($_) } @CONF ),
    'perl/hello.pl' => q{my $r = shift; our $runs++; $r->send_http_header('text/plain'); $r->print("hello\n"); 0} );
like $server->get("/$_/hello.pl")->{content}, qr/\Ahello$/m, "$_ runs scripts as in its synopsis" for @CONF;
like $server->get('/Apache::RegistryLexInfo/hello.pl')->{content}, qr/^Lexical variables of /m, 'the changed variables are listed';

done_testing;
