package Apache::Constants::Exports;

use v5.36;

# The tags are where Exporter looks for them.
use Apache::Constants ();

1;

__END__

=head1 NAME

Apache::Constants::Exports - loads Apache::Constants

=head1 DESCRIPTION

In mod_perl 1 the lists behind C<:common> and its kin were loaded from here when somebody asked; some modules still do.

=cut
