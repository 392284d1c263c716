package ModPerl::MethodLookup;

use v5.36;

use ModPerl::MethodLookup::Table ();
use Scalar::Util qw(blessed);
use mod_perl2 ();

use parent 'Exporter';
our @EXPORT = qw(print_method print_module print_object);

my ( %of_method, %of_module, %of_class, %former );

for ( ModPerl::MethodLookup::Table::methods() ) {
    my ( $module, $class, $names ) = /\A(\S+) (\S+): (.*)/s;
    for my $method ( split q{ }, $names ) {
        push @{ $of_method{$method} }, [ $module, $class ];
        push @{ $of_module{$module} }, [ $method, $class eq q{-} ? 'none: a function' : $class ];
        push @{ $of_class{$class} },   [ $method, $module ];
    }
}
delete $of_class{q{-}};

for ( ModPerl::MethodLookup::Table::former() ) {
    my ( $method, $replacement, $word ) = split q{ }, $_, 3;
    $former{$method} = [ $replacement, $word // q{} ];
}

sub avail_methods        { return keys %of_method }
sub avail_methods_compat { return keys %former }
sub avail_modules        { return keys %of_module }

sub preload_all_modules {
    for my $module ( sort keys %of_module ) {
        eval "require $module; 1" or warn "ModPerl::MethodLookup: $module was not loaded: $@";
    }
    return;
}

# Returns ($hint, @modules).
sub lookup_method ( $method = undef, $object = undef ) {
    return "lookup_method needs the name of a method\n" if !defined $method;
    $method =~ s/.*:://s;
    return _former( $method, $object ) if $former{$method};
    my $places  = $of_method{$method} or return "No module of mod_perl 2 has a method $method\n";
    my @modules = _modules( @{$places} );
    if ( @modules > 1 && defined $object ) {
        @modules = _modules( grep { _is_a( $object, $_->[1] ) } @{$places} );
        return sprintf "%s has no method %s; modules that have it: %s\n", blessed($object) // $object, $method, join q{, }, _modules( @{$places} )
            if !@modules;
    }
    my $which = @modules > 1 ? "Several modules have the method $method; load the one for your object" : "The method $method needs its module";
    return ( join( q{}, "$which:\n", map { "\tuse $_ ();\n" } @modules ), @modules );
}

# Returns ($hint, @methods).
sub lookup_module ( $module = undef ) {
    return "lookup_module needs the name of a module\n" if !defined $module;
    my $methods = $of_module{$module} or return "$module is no module of mod_perl 2 with methods\n";
    return ( _table( "Module $module", 'Class of the object', $methods ), map { $_->[0] } @{$methods} );
}

# Returns ($hint, @methods).
sub lookup_object ( $object = undef ) {
    return "lookup_object needs an object or a class\n" if !defined $object;
    my @methods = map { @{ $of_class{$_} } } grep { _is_a( $object, $_ ) } sort keys %of_class;
    my $class   = blessed($object) // $object;
    return "$class is no class of mod_perl 2 with methods\n" if !@methods;
    return ( _table( "Objects of $class", 'Module', \@methods ), map { $_->[0] } @methods );
}

sub print_method (@arguments) {
    @arguments = @ARGV if !@arguments;
    while ( defined( my $method = shift @arguments ) ) {
        my $is_object = @arguments && ( blessed( $arguments[0] ) || $arguments[0] =~ /\A(?:Apache2|APR|ModPerl)::/ );
        print +( lookup_method( $method, $is_object ? shift @arguments : undef ) )[0];
    }
    return;
}

sub print_module (@modules) {
    print +( lookup_module($_) )[0] for @modules ? @modules : @ARGV;
    return;
}

sub print_object (@objects) {
    print +( lookup_object($_) )[0] for @objects ? @objects : @ARGV;
    return;
}

sub _former ( $method, $object ) {
    my ( $replacement, $word ) = @{ $former{$method} };
    my $gone = "$method is a method of mod_perl 1";
    return "$gone: $word\n" if $replacement eq q{-};
    my $hint = "$gone, use $replacement instead" . ( length $word && ", $word" ) . "\n";
    return $hint if $replacement =~ /::/;
    my ( $next, @modules ) = lookup_method( $replacement, $object );
    return ( $hint . $next, @modules );
}

# A plain string is the name of a class; an unloaded class has no base classes.
sub _is_a ( $object, $class ) {
    return ( blessed($object) // $object ) eq $class || UNIVERSAL::isa( $object, $class );
}

sub _modules (@places) {
    my %seen;
    return sort grep { !$seen{$_}++ } map { $_->[0] } @places;
}

sub _table ( $title, $column, $rows ) {
    my ($width) = sort { $b <=> $a } map { length $_->[0] } @{$rows};
    return join q{}, "$title:\n\n", map { sprintf "%-${width}s  %s\n", @{$_} } [ 'Method', $column ], @{$rows};
}

1;

__END__

=head1 NAME

ModPerl::MethodLookup - which module of mod_perl 2 has a method

=head1 SYNOPSIS

    use ModPerl::MethodLookup;

    # the module to load for $r->construct_url
    my ( $hint, @modules ) = ModPerl::MethodLookup::lookup_method('construct_url');

    # several modules have a method "read"
    ( $hint, @modules ) = ModPerl::MethodLookup::lookup_method( 'read', 'APR::Bucket' );

    # the methods of a module, and those of an object
    my @methods;
    ( $hint, @methods ) = ModPerl::MethodLookup::lookup_module('Apache2::URI');
    ( $hint, @methods ) = ModPerl::MethodLookup::lookup_object('Apache2::RequestRec');

On the command line:

    perl -MModPerl::MethodLookup -e print_method construct_url

=head1 DESCRIPTION

The methods of mod_perl 2's objects come from several modules: C<< $r->print >> from
Apache2::RequestIO, C<< $r->construct_url >> from Apache2::URI. This module finds the module for a
method. It knows the methods of mod_perl 2.0.12, and names replacements for those that only mod_perl
1 has.

Methods of pure Perl modules such as Apache2::Request are not listed.

=head1 FUNCTIONS

Each of the three lookups returns a text for people, which ends with a line feed, and then the names
that were found, if any.

=over

=item lookup_method($method, $object)

The modules that have a method. If there are several, C<$object>, an object or a class name,
selects. A package before the method's name, as in AUTOLOAD, is ignored.

=item lookup_module($module)

The methods of a module.

=item lookup_object($object)

The methods of an object, or of objects of a class.

=item print_method(@methods), print_module(@modules), print_object(@objects)

Print the result of a lookup; without arguments, for the words in C<@ARGV>. A method's name may be
followed by a class or an object. These three functions are exported.

=item preload_all_modules()

Loads all modules with methods. Failures are warnings.

=item avail_methods(), avail_methods_compat(), avail_modules()

All methods, the replaced methods of mod_perl 1, and all modules, unordered.

=back

=head1 SEE ALSO

L<Apache2::porting>; C<cameleer check --compat>, which reads a site's files.

=cut
