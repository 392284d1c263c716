package mod_perl_hooks;

use v5.36;

use Cameleer::PhaseNames ();

sub hooks { return Cameleer::PhaseNames::all() }

1;

__END__

=head1 NAME

mod_perl_hooks - lists the phases that may have handlers

=head1 SYNOPSIS

    use mod_perl_hooks ();

    print "$_\n" for mod_perl_hooks::hooks();

=cut
