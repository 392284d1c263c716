package ModPerl::Util;

use v5.36;

# What ends a handler, not the process: the server takes CORE::exit so.
sub exit { CORE::exit( $_[-1] // 0 ) }    ## no critic: the name is the API's

BEGIN { *CORE::GLOBAL::exit = \&ModPerl::Util::exit if !defined &CORE::GLOBAL::exit }

# The directive of the phase that runs.
sub current_callback { my $r = Apache->request; return $r ? $r->current_callback : $Cameleer::ModPerl2::PHASE }

# Which interpreter, among those of all workers: there is one in each.
sub current_perl_id { return sprintf '0x%x', $$ }

# The file is asked for anew by the next require, and its subs are gone.
sub unload_package ($package) {
    my $file = $package =~ s{::}{/}gr . '.pm';
    delete $INC{$file};
    unload_package_pp($package);
    return;
}

sub unload_package_pp ($package) {
    no strict 'refs';
    my $stash = \%{"${package}::"};
    delete $stash->{$_} for grep { !/::\z/ } keys %$stash;
    return;
}

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

=cut
