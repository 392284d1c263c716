package APR::XSLoader;

use v5.36;
use APR ();

# All of APR:: is one shared object, which is already loaded.
sub BOOTSTRAP () { return 1 }
sub load      { return }

1;

__END__

=head1 NAME

APR::XSLoader - a loader without effect

=head1 DESCRIPTION

Modules of mod_perl 2 load their compiled halves through this module. L<APR> loads those of C<APR::>
instead.

=cut
