package APR::XSLoader;

use v5.36;
use APR ();

# All of APR:: is one shared object, which is loaded by now.
sub BOOTSTRAP () { return 1 }
sub load      { return }

1;

__END__

=head1 NAME

APR::XSLoader - loads nothing more

=head1 DESCRIPTION

Modules of mod_perl 2 load their compiled halves through this; those of C<APR::> are loaded with L<APR>.

=cut
