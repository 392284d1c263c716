package Apache2::SizeLimit;

use v5.36;

use Apache::SizeLimit  ();
use Cameleer::ModPerl2 ();
use mod_perl2          ();

our $VERSION = '0.97';
our @ISA     = ('Apache::SizeLimit');

# Aliases of Apache::SizeLimit's variables.
{
    no strict 'refs';
    *{$_} = \${"Apache::SizeLimit::$_"} for qw(MAX_PROCESS_SIZE MAX_UNSHARED_SIZE MIN_SHARE_SIZE CHECK_EVERY_N_REQUESTS DEBUG);
}

sub handler { return Apache::SizeLimit::handler( Cameleer::ModPerl2::as_mod_perl_1( $_[-1] ) ) }

1;

__END__

=head1 NAME

Apache2::SizeLimit - ends workers that have grown too large

=head1 SYNOPSIS

    # in a PerlPostConfigRequire file
    use Apache2::SizeLimit ();
    Apache2::SizeLimit->set_max_process_size(150_000);      # KB
    Apache2::SizeLimit->set_max_unshared_size(60_000);
    Apache2::SizeLimit->set_check_interval(10);

    PerlCleanupHandler Apache2::SizeLimit

=head1 DESCRIPTION

The same as L<Apache::SizeLimit>.

=cut
