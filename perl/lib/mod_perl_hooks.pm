package mod_perl_hooks;

use v5.36;

use mod_perl ();

# The supported phases.
my @ALL = qw(
  ChildInit PostReadRequest Init Trans HeaderParser Access Authen Authz Type Fixup Handler Log Cleanup ChildExit
  Restart Dispatch PerlSections StackedHandlers MethodHandlers
);

sub hooks {
    return grep { mod_perl::hook($_) } @ALL;
}

*mod_perl::hooks = \&hooks;

1;

__END__

=head1 NAME

mod_perl_hooks - lists the phases that may have handlers

=head1 SYNOPSIS

    perl -Mmod_perl_hooks -le 'print for mod_perl_hooks::hooks()'

=cut
