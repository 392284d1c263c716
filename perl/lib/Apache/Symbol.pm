package Apache::Symbol;

use v5.36;

use B ();

our $VERSION = '1.31';

# Empties the subs that a package defined itself; what it imported from elsewhere stays. Left out are those whose full names match
# `$skip`, and with `$only_exports` those that it does not export, if it exports any.
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

# Of a reference to a sub, by which it can be called again when it was defined anew.
sub undef ($code) {    ## no critic: the name is the API's
    CORE::undef(&$code);
    return;
}

sub sv_name ($code) {
    my $gv = B::svref_2object($code)->GV;
    return $gv->isa('B::SPECIAL') ? '__ANON__' : $gv->STASH->NAME . '::' . $gv->NAME;
}

# undef for code that is no constant.
sub cv_const_sv ($code) {
    my $cv = B::svref_2object($code);
    return $cv->CvFLAGS & B::CVf_CONST() ? ${ $cv->XSUBANY->object_2svref } : CORE::undef();
}

# Makes names of a package methods of every class.
sub make_universal ( $package = __PACKAGE__, @names ) {
    @names = 'undef_functions' if !@names;
    no strict 'refs';
    *{"UNIVERSAL::$_"} = \&{"${package}::$_"} for @names;
    return;
}
make_universal() if $ENV{APACHE_SYMBOL_UNIVERSAL};

# PerlRestartHandler: every reload loads all code anew here, and nothing is defined twice.
sub handler { return 0 }

1;

__END__

=head1 NAME

Apache::Symbol - things to do with symbol tables

=head1 SYNOPSIS

    our @ISA = 'Apache::Symbol';
    My::Module->undef_functions( qr/::keep_/, 1 );

    my $value = Apache::Symbol::cv_const_sv( \&PI );    # undef if that is no constant
    print Apache::Symbol::sv_name( \&My::Module::work ), Apache::Symbol::file2class('My/Module.pm');
    Apache::Symbol->make_universal;

=head1 FUNCTIONS

=over

=item undef_functions(PACKAGE, SKIP, ONLY_EXPORTS)

Empties the subs that the package defined itself, so that its file can be loaded again; what it imported stays. SKIP is a regular
expression of full names to leave alone; ONLY_EXPORTS, when true, takes those alone that stand in C<@EXPORT>, C<@EXPORT_OK>,
C<%EXPORT_TAGS> or C<@EXPORT_EXTRAS>, unless the package has none of them.

=item undef(CODE), sv_name(CODE), cv_const_sv(CODE)

Empties a sub; its full name; the value of a constant sub, undef for other code.

=item file2class(FILE)

C<My::Module> for F<My/Module.pm>.

=item make_universal(PACKAGE, NAMES)

Makes these subs of the package methods of every class, without arguments C<undef_functions>: also by the environment variable
C<APACHE_SYMBOL_UNIVERSAL>.

=back

=head1 DIFFERENCES

Packages below the one that is named stay as they are. As C<PerlRestartHandler> it has nothing to do: a reload loads all code anew.

=cut
