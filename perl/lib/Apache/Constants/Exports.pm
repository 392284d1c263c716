package Apache::Constants::Exports;

use v5.36;

# Apache::Constants has the tags, where Exporter looks for them.
use Apache::Constants ();

1;

__END__

=head1 NAME

Apache::Constants::Exports - loads Apache::Constants

=head1 DESCRIPTION

mod_perl 1 loaded the lists behind C<:common> and other tags from this module on demand; some
modules still load it.

=cut
