# The modules in a plain perl, as `perl -c` and unit tests load them: each loads, and functions that need a request die
# with that reason. No test here has a server.

use v5.36;
use Test::More;

my $LIB = __FILE__ =~ s{t/[^/]+\z}{lib}r;

# The compiled half of APR::*, as the build leaves it beside the program.
my $OBJECTS = ( $ENV{CAMELEER} // '' ) =~ s{[^/]+\z}{perl-xs}r;

sub plain ( $code, @more ) {
    open my $out, '-|', $^X, "-I$LIB", "-I$OBJECTS", @more, '-e', "open STDERR, '>&', \\*STDOUT; $code" or die $!;
    local $/ = undef;
    return <$out> // '';
}

# Every module of the API loads without warnings. Embperl is not available, and dies with that reason.
open my $found, '-|', 'find', $LIB, '-name', '*.pm' or die $!;
my @modules = map { chomp; s{\A\Q$LIB\E/+}{}r =~ s{/}{::}gr =~ s/\.pm\z//r } <$found>;
ok @modules > 80, 'the modules are found';
for my $module ( sort grep { $_ ne 'Apache::EmbperlChain' } @modules ) {
    is plain( "require $module; print 'loaded'", '-w' ), 'loaded', "$module loads in a plain perl";
}

# Each function of the compiled half exists, and dies unless it is pure.
open my $sources, '-|', 'find', $LIB, '-name', '*.xs' or die $!;
my %names;
for my $file (<$sources>) {
    chomp $file;
    open my $in, '<', $file or die $!;
    my ( $package, $in_alias );
    while ( my $line = <$in> ) {
        $package  = $1 if $line =~ /^MODULE.*PACKAGE = (\S+)/;
        $in_alias = $line =~ /^  ALIAS:/ if $line =~ /^  \w+:/;
        next unless $package;
        push @{ $names{$package} }, $1 if $line =~ /^(\w+)\(/ || $in_alias && $line =~ /^    (\w+) = /;
    }
}
is scalar( keys %names ), 38, 'the packages with a compiled half';
for my $package ( sort keys %names ) {
    my $loaded = $package eq 'Apache::SubRequest' ? 'Apache' : $package;
    my $code = "require $loaded; print join ' ', grep { !defined &{\"${package}::\$_\"} } qw(@{ $names{$package} })";
    is plain($code), '', "all subs of $package exist in a plain perl";
}

my %dies = (
    'Apache::uri(bless {}, q(Apache))'      => 'Apache::uri needs a request: it runs under cameleer at -e line 1.',
    'Apache::Table->new(undef)'             => 'Apache::Table::new needs a request: it runs under cameleer at -e line 1.',
    'Apache->server->port'                  => 'Apache::Server::port needs a request: it runs under cameleer at -e line 1.',
    'Apache::SubRequest->run'               => 'Apache::SubRequest::run needs a request: it runs under cameleer at -e line 1.',
    'Apache::Registry::handler(q(Apache))'  => 'Apache::Registry::look needs a request: it runs under cameleer at ',
);
for my $call ( sort keys %dies ) {
    my $use = join '; ', map {"use $_"} qw(Apache Apache::Table Apache::Registry);
    like plain("$use; $call"), qr/\A\Q$dies{$call}\E[^\n]*\n\z/, $call;
}

# Calls of start-up files and modules while they are loaded.
is plain('use Apache; print defined Apache->request ? 1 : 0'), 0, 'there is no request';
is plain('use Apache; Apache->server->log->error(q(told)); Apache->warn(q(warned)); Apache::log_error(q(said))'),
    "[error] told\n[warn] warned\n[error] said\n", 'the log is STDERR';
like plain('use Apache; use lib Apache->server_root_relative(q(lib)); print $INC[0]'), qr{/lib\z}, 'the working directory is the ServerRoot';
is plain('use Apache; Apache->push_handlers(PerlChildInitHandler => sub {}); Apache->server->register_cleanup(sub { print q(end) })'), 'end',
    'handlers and cleanups may be registered';
is qx{$^X -I$LIB -MApache::Constants=:common -MApache::Request -MApache::Registry -MGTop -c -e 'print OK' 2>&1}, "-e syntax OK\n", 'perl -c';
is plain('use Apache::FakeRequest; use Apache::Cookie; print Apache::Cookie->new(Apache::FakeRequest->new(script_name => q(/a/b)), -name => q(n), -value => 1)->as_string'),
    'n=1; path=/a/', 'a unit test with an Apache::FakeRequest';

# Symbol.pm of mod_perl 1.31, ARGUMENTS of undef_functions and the functions beside it.
my $exporting = 'use Apache::Symbol; package Mine; use List::Util q(sum); our @EXPORT = q(out); sub out { 1 } sub in { 1 } sub keep { 1 } package main; ';
my $left      = 'print join q( ), grep { defined &{qq(Mine::$_)} } qw(in keep out sum)';
is plain( $exporting . "Apache::Symbol::undef_functions('Mine'); $left" ), 'sum', 'Symbol.pm, undef_functions: subs defined by the package';
is plain( $exporting . "Apache::Symbol::undef_functions( 'Mine', 'Mine::ke' ); $left" ), 'keep sum', 'Symbol.pm, undef_functions: skip';
is plain( $exporting . "Apache::Symbol::undef_functions( 'Mine', undef, 1 ); $left" ), 'in keep sum', 'Symbol.pm, undef_functions: only_undef_exports';
is plain( $exporting . "\@Mine::EXPORT = (); Apache::Symbol::undef_functions( 'Mine', undef, 1 ); $left" ), 'sum',
    'Symbol.pm, undef_functions: "if none of the EXPORT variables are defined ignore only_undef_exports"';
is plain( $exporting . "\@Mine::ISA = 'Apache::Symbol'; Mine->undef_functions; $left" ), 'sum', 'Symbol.pm, SYNOPSIS: as a method';
is plain( $exporting . 'Apache::Symbol::undef(\&Mine::in); print defined &Mine::in ? 1 : 0, Apache::Symbol::sv_name(\&Mine::out), Apache::Symbol::file2class(q(A/B.pm))' ),
    '0Mine::outA::B', 'Symbol.pm: undef, sv_name, file2class';
is plain('BEGIN { $ENV{APACHE_SYMBOL_UNIVERSAL} = 1 } use Apache::Symbol; print !!No::Class->can(q(undef_functions))'), 1,
    'Symbol.pm, APACHE_SYMBOL_UNIVERSAL';

done_testing;
