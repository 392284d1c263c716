package Apache::PerlRunXS;

use v5.36;

use Apache::PerlRun  ();
use Apache::Registry ();

our @ISA = ('Apache::PerlRun');

sub handler { return __PACKAGE__->serve(@_) }

package Apache::RegistryXS {
    sub handler { goto &Apache::Registry::handler }
}

1;

__END__

=head1 NAME

Apache::PerlRunXS - another name of Apache::PerlRun

=head1 SYNOPSIS

    PerlModule Apache::PerlRunXS
    <Location /perl>
        SetHandler perl-script
        PerlHandler Apache::RegistryXS
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

In mod_perl 1 this was a faster PerlRun, and with C<PerlHandler Apache::RegistryXS> a faster
Registry. Here both names are aliases of L<Apache::PerlRun> and L<Apache::Registry>.

=cut
