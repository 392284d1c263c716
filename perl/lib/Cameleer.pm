package Cameleer;

# No pragma and no variable of ours stands around this eval: a handler's text in the configuration would see it.
sub evaluate { package main; eval $_[0] }    ## no critic: the configuration is code

use v5.36;
use Cameleer::Deadline ();
use Cameleer::StartUp ();

our $VERSION = '0.1.0';

# Of a sub, with its packages. For each part of a name perl makes a package that is called by all parts up to it: a longer one would cost
# memory by its square.
use constant LONGEST_NAME => 4096;

# require dies with "... in require" frames of ours unless it is called from here.
sub require_file ($file) {
    package main;    # a file without a package statement is compiled into the package that requires it
    require $file;
    return;
}

# mod_perl evaluates "require $said": a semicolon behind the name does no harm, nor does a list of what `use` would import.
sub require_module ($said) {
    my ( $name, $list ) = $said =~ /\A\s*(\w+(?:::\w+)*)\s*(?:(?:=>|,)\s*(.*?))?\s*;?\s*\z/s or die "PerlModule: \"$said\" is not a module's name\n";
    defined $list && length $list && !defined evaluate("[$list]") && die "PerlModule: \"$said\": $@";
    require( $name =~ s{::}{/}gr . '.pm' );
    return;
}

# As mod_perl 1 does: the environment that the server was started in is not the site's, but for what PerlPassEnv names.
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

# Names of -D and Define, one a line.
sub define ($names) {
    $Apache::DEFINED{$_} = 1 for split /\n/, $names;
    return;
}

# Which reading of the configuration this is, "1" or "2", and whether a server runs already: "1" or "0".
sub starting ($reading) {
    ( $Apache::Server::Starting, $Apache::Server::ReStarting ) = split / /, $reading;
    $Cameleer::ModPerl2::RESTARTS = $Apache::Server::Starting + $Apache::Server::ReStarting;
    return;
}

# Where mod_perl 1 looks for modules after everywhere else.
sub server_root ($folder) {
    push @INC, $folder, "$folder/lib/perl";
    return;
}

# "read" by this process: what Perl says counts. Or "known": Perl runs again for its effect.
sub configuration_is ($state) {
    require Cameleer::Sections;
    $Cameleer::Sections::STATE = $state;
    return;
}

# All start-up steps are done.
sub started {
    no warnings 'once';
    ( $Apache::Server::Starting, $Apache::Server::ReStarting ) = ( 0, 0 ) unless $INC{"Apache2/compat.pm"};    # it says what mod_perl 2 says
    $Cameleer::ModPerl2::RESTARTS = 2 if ( $Cameleer::ModPerl2::RESTARTS // 2 ) < 2;
    $Cameleer::Sections::STATE = '';
    return;
}

# A <Perl> section follows; the argument: what is a directive, see Cameleer::Sections.
sub begin_section ($directives) {
    require Cameleer::Sections;
    Cameleer::Sections::begin($directives);
    return;
}

# What Perl code handed to Apache->httpd_conf since it was asked last.
sub said ($) { return $INC{'Cameleer/Sections.pm'} ? Cameleer::Sections::handed() : '' }

sub defines_directive ($name) { return $INC{'Cameleer/Directives.pm'} ? Cameleer::Directives::knows($name) : '' }

# All of them, a line each, in lower case.
sub defined_directives ($) { return $INC{'Cameleer/Directives.pm'} ? Cameleer::Directives::names() : '' }

sub set_env ($pair) {
    my ( $name, $value ) = split /=/, $pair, 2;
    $ENV{$name} = $value;
    return;
}

# Each worker: Apache::Scoreboard, if the site has it, finds the front by the master's number.
sub set_master ($pid) {
    $Apache::Scoreboard::MASTER = $pid;
    return;
}

sub add_library ($folder) {
    unshift @INC, $folder unless grep { $_ eq $folder } @INC;
    return;
}

# What a Perl*Handler directive names: (code, class to call it on or undef).
sub resolve_handler ($name) {
    if ( $name =~ /\A([^\0]*)\0(.*)\z/s ) {    # the name of PerlDispatchHandler stands before that of the handler
        return ( Apache::Phases::dispatching( $1, $2 ), undef );
    }
    return ( anonymous($name), undef ) if $name =~ /\A\s*sub\b/;
    die 'a text of ' . length($name) . ' characters names no handler: expected at most ' . LONGEST_NAME . "\n" if length $name > LONGEST_NAME;
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

# `sub handler ($$)` and `sub handler : method` are how mod_perl 1 says that a handler is a method.
sub as_method ( $code, $class ) {
    require attributes;
    my $is_method = ( prototype($code) // '' ) =~ /\A\$\$/ || grep { $_ eq 'method' } attributes::get($code);
    return ( $code, $is_method ? $class : undef );
}

# A method of the object that the global variable holds when the handler is called.
sub of_object ( $variable, $method ) {
    return sub {
        no strict 'refs';
        my $object = ${$variable};
        ref $object or die "\$$variable->$method: the variable holds no object\n";
        return $object->$method(@_);
    };
}

# Package::sub of a module that is not loaded yet: the module is what stands before the last part.
sub load ( $name, $method ) {
    return if $name->can($method);
    my @try = ( $name, $name =~ s/::\w+\z//r );
    for my $module (@try) {
        my $file = $module =~ s{::}{/}gr . '.pm';
        return if $INC{$file} && $module->can($method);
        return 1 if eval { require $file };
        die $@ unless $@ =~ /\ACan't locate \Q$file\E in \@INC \(/;
    }
    die "Can't find $name->$method: no module $name in \@INC (@INC)\n";
}

1;

__END__

=head1 NAME

Cameleer - the Perl half of the application server's own code

=head1 DESCRIPTION

Called by the server, not by applications: what PerlModule, PerlRequire and the handler directives do.

=cut
