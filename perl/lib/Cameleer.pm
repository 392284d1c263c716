package Cameleer;

# No pragma and no lexical variable precedes this eval: a handler's code in the configuration would see it.
sub evaluate { package main; eval $_[0] }    ## no critic: the configuration is code

use v5.36;
use Cameleer::Deadline ();
use Cameleer::StartUp ();

our $VERSION = '0.1.0';

# Longest name of a sub, with its packages. perl makes a package for each part of a name, called by all parts up
# to it: a longer name would cost memory by its square.
use constant MAX_NAME_BYTES => 4096;

# A file required from elsewhere would die with messages that show frames of the server.
sub require_file ($file) {
    package main;    # a file without a package statement is compiled into the requiring package
    require $file;
    return;
}

# mod_perl evaluates "require $argument", so a semicolon or an import list after the name is allowed.
sub require_module ($argument) {
    my ( $name, $list ) = $argument =~ /\A\s*(\w+(?:::\w+)*)\s*(?:(?:=>|,)\s*(.*?))?\s*;?\s*\z/s or die "PerlModule: \"$argument\" is not a module's name\n";
    defined $list && length $list && !defined evaluate("[$list]") && die "PerlModule: \"$argument\": $@";
    require( $name =~ s{::}{/}gr . '.pm' );
    return;
}

# Whether a handler `+Name` is a sub that is there, and not a module to load.
sub is_sub ($name) {
    no strict 'refs';
    return defined &$name ? 1 : 0;
}

# As in mod_perl 1, the server's own environment is not passed to the site, except for the names in PerlPassEnv.
sub start_mod_perl ($version) {
    delete @ENV{ grep { $_ ne 'PATH' && $_ ne 'TZ' } keys %ENV };
    $ENV{MOD_PERL} = $version;
    if ( $version =~ m{/2} ) {
        require Cameleer::ModPerl2;
        return Cameleer::ModPerl2::begin();
    }
    $ENV{GATEWAY_INTERFACE} = 'CGI-Perl/1.1';
    require mod_perl;
    require Apache;
    return;
}

# Names of -D and Define, one per line.
sub define ($names) {
    $Apache::DEFINED{$_} = 1 for split /\n/, $names;
    return;
}

# The number of the reading of the configuration, "1" or "2", and whether a server is already running, "1" or
# "0".
sub starting ($reading) {
    ( $Apache::Server::Starting, $Apache::Server::ReStarting ) = split / /, $reading;
    $Cameleer::ModPerl2::RESTARTS = $Apache::Server::Starting + $Apache::Server::ReStarting;
    return;
}

# mod_perl 1 searches these folders for modules after all others.
sub server_root ($folder) {
    push @INC, $folder, "$folder/lib/perl";
    return;
}

# State "read": this process determines the configuration. State "known": Perl runs again for its side effects.
sub configuration_is ($state) {
    require Cameleer::Sections;
    $Cameleer::Sections::STATE = $state;
    return;
}

# All start-up steps are complete.
sub started {
    no warnings 'once';
    ( $Apache::Server::Starting, $Apache::Server::ReStarting ) = ( 0, 0 ) unless $INC{"Apache2/compat.pm"};    # Apache2::compat needs mod_perl 2's values
    $Cameleer::ModPerl2::RESTARTS = 2 if ( $Cameleer::ModPerl2::RESTARTS // 2 ) < 2;
    $Cameleer::Sections::STATE = '';
    return;
}

# Begins a <Perl> section; for the argument, the directives, see Cameleer::Sections.
sub begin_section ($directives) {
    require Cameleer::Sections;
    Cameleer::Sections::begin($directives);
    return;
}

# Configuration that Perl code has passed to Apache->httpd_conf since the last call.
sub handed_directives ($) { return $INC{'Cameleer/Sections.pm'} ? Cameleer::Sections::handed() : '' }

sub defines_directive ($name) { return $INC{'Cameleer/Directives.pm'} ? Cameleer::Directives::knows($name) : '' }

# The names of all defined directives, one per line, in lower case.
sub defined_directives ($) { return $INC{'Cameleer/Directives.pm'} ? Cameleer::Directives::names() : '' }

sub set_env ($pair) {
    my ( $name, $value ) = split /=/, $pair, 2;
    $ENV{$name} = $value;
    return;
}

# Runs in each worker: Apache::Scoreboard, if the site uses it, finds the front by the master's process id.
sub set_master ($pid) {
    $Apache::Scoreboard::MASTER = $pid;
    return;
}

# As perl's -I: with the folders below for modules in C, and for this version of perl.
sub add_library ($folder) {
    require Config;
    my ( $version, $architecture ) = @Config::Config{qw(version archname)};
    my @below = grep {-d} map {"$folder/$_"} "$version/$architecture", $version, $architecture;
    for my $added ( $folder, reverse @below ) {
        unshift @INC, $added unless grep { $_ eq $added } @INC;
    }
    return;
}

# Resolves the name in a Perl*Handler directive: returns (code, class to call it on or undef).
sub resolve_handler ($name) {
    if ( $name =~ /\A([^\0]*)\0(.*)\z/s ) {    # PerlDispatchHandler's name precedes the handler's
        return ( Apache::Phases::dispatching( $1, $2 ), undef );
    }
    return ( anonymous($name), undef ) if $name =~ /\A\s*sub\b/;
    die 'a text of ' . length($name) . ' characters names no handler: expected at most ' . MAX_NAME_BYTES . "\n" if length $name > MAX_NAME_BYTES;
    $name =~ s/\A[+-]//;
    return ( of_object( $1, $2 ), undef ) if $name =~ /\A\$(\w+(?:::\w+)*)->(\w+)\z/;
    return method( $1, $2 ) if $name =~ /\A(\w+(?:::\w+)*)->(\w+)\z/;
    $name =~ /\A\w+(?:::\w+)*\z/ or die "\"$name\" names no handler: expected Package, Package::sub, Class->method or \$Object->method\n";
    no strict 'refs';
    return as_method( \&$name, $name =~ s/::\w+\z//r ) if defined &$name;
    load( $name, 'handler' );
    my $code = $name->can('handler') // ( defined &$name ? \&$name : undef );
    $code or die "$name has no sub handler\n";
    return as_method( $code, $name );
}

sub anonymous ($text) {
    my $code = evaluate($text);
    return $code // die $@;
}

sub method ( $class, $method ) {
    load( $class, $method );
    my $code = $class->can($method) or die "$class has no method $method\n";
    return ( $code, $class );
}

# mod_perl 1 recognizes methods by the prototype `sub handler ($$)` or the attribute `sub handler : method`.
sub as_method ( $code, $class ) {
    require attributes;
    my $is_method = ( prototype($code) // '' ) =~ /\A\$\$/ || grep { $_ eq 'method' } attributes::get($code);
    return ( $code, $is_method ? $class : undef );
}

# Calls a method of the object in a global variable, which is read when the handler is called.
sub of_object ( $variable, $method ) {
    return sub {
        no strict 'refs';
        my $object = ${$variable};
        ref $object or die "\$$variable->$method: the variable holds no object\n";
        return $object->$method(@_);
    };
}

# Loads the module of Package::sub: the name itself or, failing that, the name without its last part.
sub load ( $name, $method ) {
    return if $name->can($method);
    my @try = ( $name, $name =~ s/::\w+\z//r );
    for my $module (@try) {
        my $file = $module =~ s{::}{/}gr . '.pm';
        return if $INC{$file} && $module->can($method);
        return 1 if eval { require $file };
        die $@ unless $@ =~ /\ACan't locate \Q$file\E in \@INC \(/;
    }
    die "Can't find $name->$method: no module $name in \@INC\n";
}

1;

__END__

=head1 NAME

Cameleer - the Perl half of the application server's own code

=head1 DESCRIPTION

The server calls this module, not applications: it implements PerlModule, PerlRequire and the
handler directives.

=cut
