package Apache::Symbol;

use v5.36;

use B ();

# Empties the subs of a package but those named in `$keep`; what it imported from elsewhere stays.
sub undef_functions ( $package, $keep = {}, @ ) {
    no strict 'refs';
    for my $name ( grep { !/::\z/ && !$keep->{$_} } keys %{"${package}::"} ) {
        undef &{"${package}::$name"} if defined &{"${package}::$name"} && is_own( $package, \&{"${package}::$name"} );
    }
    return;
}

sub is_own ( $package, $code ) {
    my $cv = B::svref_2object($code);
    return $cv->can('STASH') && !$cv->GV->isa('B::SPECIAL') && $cv->GV->STASH->NAME eq $package;
}

# undef for code that is no constant.
sub cv_const_sv ($code) {
    my $cv = B::svref_2object($code);
    return $cv->CvFLAGS & B::CVf_CONST() ? ${ $cv->XSUBANY->object_2svref } : undef;
}

# Makes names of a package methods of every class.
sub make_universal ( $package, @names ) {
    no strict 'refs';
    *{"UNIVERSAL::$_"} = \&{"${package}::$_"} for @names;
    return;
}

1;

__END__

=head1 NAME

Apache::Symbol - things to do with symbol tables

=head1 SYNOPSIS

    Apache::Symbol::undef_functions( 'My::Module', { keep_me => 1 } );
    my $value = Apache::Symbol::cv_const_sv( \&PI );    # undef if that is no constant
    Apache::Symbol::make_universal( 'My::Module', qw(one two) );

=head1 FUNCTIONS

=over

=item undef_functions(PACKAGE, KEEP)

Empties the subs that the package defined itself, so that its file can be loaded again; what it imported stays, and so do
the names that are true in the hash KEEP.

=item cv_const_sv(CODE)

The value of a constant sub, undef for other code.

=item make_universal(PACKAGE, NAMES)

Makes these subs of the package methods of every class.

=back

=cut
