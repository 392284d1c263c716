# The modules in a plain perl, as `perl -c` and unit tests load them: pure functions return the same as in a worker;
# functions that need a request die with that reason.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my $LIB = __FILE__ =~ s{t/[^/]+/[^/]+\z}{lib}r;

# The compiled half of APR::*, as the build leaves it beside the program.
my $OBJECTS = ( $ENV{CAMELEER} // '' ) =~ s{[^/]+\z}{perl-xs}r;

# Code that needs no request: run here by a plain perl and in a worker.
my %CASES = (
    constants  => sub { join '|', Apache::Constants::OK(), Apache::Constants::NOT_FOUND(), Apache::Constants->name(404), Apache::Constants::M_POST() },
    html       => sub { join '|', map { Apache::Util::escape_html($_) } q{<a href="x">&'}, "\xe9<", '', undef },
    html_wide  => sub { my $t = Apache::Util::escape_html("<\x{263a}>"); length($t) . ( utf8::is_utf8($t) ? ' characters' : ' bytes' ) },
    uri        => sub { join '|', map { Apache::Util::escape_uri($_) } "/a b/%?#;\"\x00-_.~", join( '', map {chr} 1 .. 255 ), "\x{e9}\x{263a}", "\x{e9}", '' },
    unescape   => sub { join '|', map { ( Apache::Util::unescape_uri($_), Apache::Util::unescape_uri_info($_) ) } 'a%20b+c%4', '%zz%41%', '', '%e2%98%BA' },
    arguments  => sub { join '|', map { join ',', Apache::parse_args( 1, $_ ) } 'a=1&b=%32', 'a;b=2;;c', 'one+two', 'one&two', '', '=x&y==z', 'a=b=c', '&', 'a&', '=' },
    whole      => sub { scalar Apache::parse_args( 0, 'a=1' ) },
    nothing    => sub { scalar( () = Apache::parse_args( 1, undef ) ) },
    time       => sub { Apache::Util::ht_time(784111777) . Apache::Util::parsedate('Sun, 06 Nov 1994 08:49:37 GMT') },
    password   => sub { Apache::Util::validate_password( 'secret', '$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/' ) },
    size       => sub { Apache::Util::size_string(1_500_000) },
    parse      => sub { my $u = Apache::URI->parse( undef, 'http://me:pw@h:81/p?q#f' ); join '|', $u->hostname, $u->port, $u->unparse },
    expires    => sub { Apache::Cookie::date( 'Thu, 01-Jan-2037 00:00:00 GMT', '-' ) },
    levels     => sub { join ',', Apache::Log::EMERG(), Apache::Log::DEBUG() },
    module     => sub { join '', map { Apache->module($_) ? 1 : 0 } qw(mod_perl.c Apache::Util No::Such) },
    hook       => sub { mod_perl::hook('Trans') . mod_perl::hook('Nonsense') },
);

sub prepare {
    for my $module (qw(Apache Apache::Constants Apache::Cookie Apache::Log Apache::URI Apache::Util)) {
        require( $module =~ s{::}{/}gr . '.pm' );
    }
    return;
}

if ( TestServer::in_server() ) {
    prepare();
    return TestServer::serve_cases( { map { my $code = $CASES{$_}; ( $_ => sub ($r) { my $said = $code->(); utf8::encode($said) if utf8::is_utf8($said); $said } ) } keys %CASES } );
}

use Test::More;

unshift @INC, $LIB;
prepare();
no warnings 'uninitialized';
my %here = map { my $said = $CASES{$_}->(); utf8::encode($said) if utf8::is_utf8($said); ( $_ => $said ) } keys %CASES;
TestServer->check_cases( \%here );
is $here{constants}, '0|404|NOT_FOUND|2', 'the values are defined';

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
is scalar( keys %names ), 35, 'the packages with a compiled half';
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
