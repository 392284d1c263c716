package Apache::Symbol;

use v5.36;

use B ();

our $VERSION = '1.31';

# Empties the subs that a package has defined; imported subs are retained. Excludes subs whose full names match `$skip`,
# and with `$only_exports` subs that the package does not export, if it exports any.
sub undef_functions ( $package, $skip = undef, $only_exports = 0 ) {
    my %exported = map { $_ => 1 } $only_exports ? exports($package) : ();
    no strict 'refs';
    for my $name ( grep { !/::\z/ && defined &{"${package}::$_"} } keys %{"${package}::"} ) {
        my $full = "${package}::$name";
        next if defined $skip && length $skip && $full =~ /$skip/;
        next if %exported && !$exported{$name};
        undef &$full if is_own( $package, \&$full );
    }
    return;
}

sub exports ($package) {
    no strict 'refs';
    return @{"${package}::EXPORT"}, @{"${package}::EXPORT_OK"}, @{"${package}::EXPORT_EXTRAS"}, map {@$_} values %{"${package}::EXPORT_TAGS"};
}

sub is_own ( $package, $code ) {
    my $cv = B::svref_2object($code);
    return $cv->can('STASH') && !$cv->GV->isa('B::SPECIAL') && $cv->GV->STASH->NAME eq $package;
}

# My/Module.pm is My::Module.
sub file2class ($file) { return $file =~ /\.pm\z/ ? $file =~ s/\.pm\z//r =~ s{/}{::}gr : $file }

# Empties a sub; references to it call the new sub once it is defined again.
sub undef ($code) {    ## no critic: the name is the API's
    CORE::undef(&$code);
    return;
}

sub sv_name ($code) {
    my $gv = B::svref_2object($code)->GV;
    return $gv->isa('B::SPECIAL') ? '__ANON__' : $gv->STASH->NAME . '::' . $gv->NAME;
}

# The value of a constant sub; undef for other code.
sub cv_const_sv ($code) {
    my $cv = B::svref_2object($code);
    return $cv->CvFLAGS & B::CVf_CONST() ? ${ $cv->XSUBANY->object_2svref } : CORE::undef();
}

# Makes a package's subs methods of every class.
sub make_universal ( $package = __PACKAGE__, @names ) {
    @names = 'undef_functions' if !@names;
    no strict 'refs';
    *{"UNIVERSAL::$_"} = \&{"${package}::$_"} for @names;
    return;
}
make_universal() if $ENV{APACHE_SYMBOL_UNIVERSAL};

# PerlRestartHandler: nothing to do, because a reload loads all code in a new process.
sub handler { return 0 }

1;

__END__

=head1 NAME

Apache::Symbol - operations on symbol tables

=head1 SYNOPSIS

    our @ISA = 'Apache::Symbol';
    My::Module->undef_functions( qr/::keep_/, 1 );

    my $value = Apache::Symbol::cv_const_sv( \&PI );    # undef if that is no constant
    print Apache::Symbol::sv_name( \&My::Module::work ), Apache::Symbol::file2class('My/Module.pm');
    Apache::Symbol->make_universal;

=head1 FUNCTIONS

=over

=item undef_functions(PACKAGE, SKIP, ONLY_EXPORTS)

Empties the subs that the package has defined, so that its file can be loaded again; imported subs
stay. SKIP is a regular expression of full names to exclude; ONLY_EXPORTS, if true, limits this to
names in C<@EXPORT>, C<@EXPORT_OK>, C<%EXPORT_TAGS> or C<@EXPORT_EXTRAS>, unless the package has
none of these.

=item undef(CODE), sv_name(CODE), cv_const_sv(CODE)

Empties a sub; returns its full name; returns the value of a constant sub, undef for other code.

=item file2class(FILE)

C<My::Module> for F<My/Module.pm>.

=item make_universal(PACKAGE, NAMES)

Makes these subs of the package methods of every class; without arguments C<undef_functions>. The
environment variable C<APACHE_SYMBOL_UNIVERSAL> does the same.

=back

=head1 DIFFERENCES

Packages below the named one are not changed. As C<PerlRestartHandler> it does nothing: a reload
loads all code in a new process.

=cut
