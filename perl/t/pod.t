# The documentation of every module: its POD is in order, its Perl compiles, its configuration is accepted.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

use File::Find ();

my $LIB = __FILE__ =~ s{[^/]+\z}{../lib}r;

# Paragraphs of a SYNOPSIS by kind: `perl`, `conf` or `shell`. A paragraph is independent unless it opens a section or
# block that a later one closes.
sub synopsis ($file) {
    open my $in, '<', $file or die "$file: $!";
    my ($text) = join( '', <$in> ) =~ /^=head1 SYNOPSIS\n(.*?)^=/ms or return;
    my @lines = $text =~ /^    (.*)$|^()$/mg;
    my ( $kind, $depth, %text ) = ( '', 0 );
    for my $line ( map { $_ // () } @lines ) {
        $kind = kind_of($line) || $kind if $depth == 0 && $line =~ /\S/ && ( $line !~ /^#/ || $line =~ /httpd\.conf/ );
        next if !$kind;
        $depth += $kind eq 'conf' ? ( $line =~ /^\s*<\w/ ) - ( $line =~ m{^\s*</} ) : ( () = $line =~ /[({\[]/g ) - ( () = $line =~ /[])}]/g );
        $text{$kind} .= "$line\n";
    }
    return \%text;
}

sub kind_of ($line) {
    return
        $line =~ /^(?:%|apt-get|perl) /                        ? 'shell'
      : $line =~ /^(?:<\w|Perl[A-Z]\w+ |SetHandler |Alias |Options )/ ? 'conf'
      : $line =~ /^\s/                                         ? ''
      :                                                          'perl';
}

my %SYNOPSIS;
File::Find::find( { wanted => sub { $SYNOPSIS{$File::Find::name} = synopsis($_) if /\.pm\z/ }, no_chdir => 1 }, $LIB );

package My::Compiled {
    # Compiles code with signatures, and with prototypes as in 1.x.
    sub faults ($code) {
        my $why;
        for my $features ( 'use v5.36;', 'use v5.36; no feature "signatures";' ) {
            local $SIG{__WARN__} = sub { };
            return if eval "package My::Scratch; $features no strict; no warnings; sub { $code }; 1";    ## no critic: the code is text
            $why = $@;
        }
        return $why;
    }

    sub handler ($r) {
        for my $file ( sort keys %SYNOPSIS ) {
            my $code  = $SYNOPSIS{$file} && $SYNOPSIS{$file}{perl} // next;
            my $fault = faults($code) // next;
            $r->print("$file: $fault\n");
        }
        return 0;
    }
}

package main;
TestServer::in_server() and return 1;

use Pod::Checker ();
use Test::More;

for my $file ( sort keys %SYNOPSIS ) {
    my $checker = Pod::Checker->new( -warnings => 1 );
    open my $said, '>', \my $words;
    $checker->parse_from_file( $file, $said );
    ok $checker->num_errors <= 0 && $checker->num_warnings == 0, "the POD of $file" or diag $words;
}
ok +( grep { $_ && $_->{perl} } values %SYNOPSIS ) > 40, 'there are SYNOPSES to compile';

my $server = TestServer->spawn(<<'CONF');
<Location /synopses>
    SetHandler perl-script
    PerlHandler My::Compiled
</Location>
CONF
is $server->get('/synopses')->{content}, '', 'the Perl of every SYNOPSIS compiles';

# Modules that examples take from the reader's site.
my %own = map { ( 'lib/' . s{::}{/}gr . '.pm' => "package $_; sub handler { 0 } 1;" ) } map { "My::$_" } qw(Handler Filter Upper Capitals);
for my $file ( sort keys %SYNOPSIS ) {
    my $conf = $SYNOPSIS{$file} && $SYNOPSIS{$file}{conf} // next;
    $conf =~ s/^\s*\.\.\.;?$//mg;
    $server->write( $_, $own{$_} ) for keys %own;
    $server->write( 'check.conf', $server->preamble =~ s/^PerlRequire.*\n//mr . "PerlLib lib\n$conf" );
    my $said = qx{$ENV{CAMELEER} check -f $server->{dir}/check.conf 2>&1};
    is $?, 0, "the configuration of $file" or diag "$said\n$conf";
}

done_testing;
