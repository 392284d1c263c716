package ModPerl::Util;

use v5.36;

# The sub behind unload_package.
our $DEFAULT_UNLOAD_METHOD //= 'unload_package_pp';

# Ends the handler, not the process, by an exception that the server recognizes, and that an eval sees as
# ModPerl::EXIT. In a child that Perl code has forked, exits as perl does.
sub exit {    ## no critic: the name is the API's
    require Apache::Registry;
    CORE::exit( $_[0] // 0 ) if Apache::Registry::_is_forked_child();
    require APR::Error;
    my ( undef, $file, $line ) = caller;
    local $SIG{__DIE__} = 'DEFAULT';    # exit is not an error
    die APR::Error->new( rc => 120_000, file => $file, line => $line, func => 'ModPerl::Util::exit' );
}

BEGIN { *CORE::GLOBAL::exit = \&ModPerl::Util::exit if !defined &CORE::GLOBAL::exit }

# The directive of the running phase.
sub current_callback { my $r = Apache->request; return $r ? Apache::current_callback($r) : $Cameleer::ModPerl2::PHASE }

# The id of the interpreter: each worker has one, so it is made of the process id.
sub current_perl_id { return sprintf '0x%x', $$ }

# Deletes the definitions of the package, so that the next require loads its file again.
sub unload_package ($package) {
    no strict 'refs';
    return $DEFAULT_UNLOAD_METHOD->($package);
}

sub unload_package_pp ($package) {
    return if length $package > Cameleer::MAX_NAME_BYTES();    # no package has such a name
    no strict 'refs';
    # Empties the globs instead of deleting them: compiled code of other packages refers to them, and finds new
    # definitions there.
    undef *{"${package}::$_"} for grep { !/::\z/ } keys %{"${package}::"};
    delete $INC{ $package =~ s{::}{/}gr . '.pm' };
    return;
}

*unload_package_xs = \&unload_package_pp;

sub untaint { Apache->untaint($_) for @_; return }

1;

__END__

=head1 NAME

ModPerl::Util - exit from a handler, unloading of packages

=head1 SYNOPSIS

    ModPerl::Util::exit();
    ModPerl::Util::current_callback();    # PerlResponseHandler
    ModPerl::Util::unload_package('My::Module');
    ModPerl::Util::untaint($text);

=head1 DESCRIPTION

C<exit> throws an L<APR::Error> whose number is C<ModPerl::EXIT>; in all code that is compiled in
the server, C<exit> is this function. Code that catches the exception with an eval must rethrow it:

    eval { code(); 1 } or ref $@ && $@ == ModPerl::EXIT and die $@;

=cut
