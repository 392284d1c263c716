package ModPerl::Util;

use v5.36;

# Which sub unload_package is.
our $DEFAULT_UNLOAD_METHOD //= 'unload_package_pp';

# Ends the handler, not the process: an exception that the server knows, and that an eval sees as ModPerl::EXIT. In a child that
# was forked here it is perl's own exit.
sub exit {    ## no critic: the name is the API's
    require Apache::Registry;
    CORE::exit( $_[0] // 0 ) if Apache::Registry::_is_forked_child();
    require APR::Error;
    my ( undef, $file, $line ) = caller;
    local $SIG{__DIE__} = 'DEFAULT';    # it is no error
    die APR::Error->new( rc => 120_000, file => $file, line => $line, func => 'ModPerl::Util::exit' );
}

BEGIN { *CORE::GLOBAL::exit = \&ModPerl::Util::exit if !defined &CORE::GLOBAL::exit }

# The directive of the phase that runs.
sub current_callback { my $r = Apache->request; return $r ? Apache::current_callback($r) : $Cameleer::ModPerl2::PHASE }

# Which interpreter, among those of all workers: there is one in each.
sub current_perl_id { return sprintf '0x%x', $$ }

# What the package defined is gone, and its file is asked for anew by the next require.
sub unload_package ($package) {
    no strict 'refs';
    return $DEFAULT_UNLOAD_METHOD->($package);
}

sub unload_package_pp ($package) {
    return if length $package > Cameleer::LONGEST_NAME();    # none has such a name
    no strict 'refs';
    # Emptied, not deleted: compiled code of other packages refers to these globs, and finds there what is defined next.
    undef *{"${package}::$_"} for grep { !/::\z/ } keys %{"${package}::"};
    delete $INC{ $package =~ s{::}{/}gr . '.pm' };
    return;
}

*unload_package_xs = \&unload_package_pp;

sub untaint { Apache->untaint($_) for @_; return }

1;

__END__

=head1 NAME

ModPerl::Util - leaving a handler, unloading a package

=head1 SYNOPSIS

    ModPerl::Util::exit();
    ModPerl::Util::current_callback();    # PerlResponseHandler
    ModPerl::Util::unload_package('My::Module');
    ModPerl::Util::untaint($text);

=head1 DESCRIPTION

C<exit> throws an L<APR::Error> that is C<ModPerl::EXIT> as a number; perl's own C<exit> is this one in all code that is compiled in
the server. Whoever catches it with an eval throws it on:

    eval { code(); 1 } or ref $@ && $@ == ModPerl::EXIT and die $@;

=cut
