package ModPerl::RegistryBB;

use v5.36;

use ModPerl::RegistryCooker ();

our @ISA = ('ModPerl::RegistryCooker');

sub handler : method {
    my $r     = pop;
    my $class = shift // __PACKAGE__;
    return ModPerl::RegistryCooker::serve( $class, $r );
}

1;

__END__

=head1 NAME

ModPerl::RegistryBB - a minimal Registry

=head1 SYNOPSIS

    <Location /perl>
        SetHandler perl-script
        PerlResponseHandler ModPerl::RegistryBB
        PerlOptions +ParseHeaders
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

Like L<ModPerl::Registry>, but a script is compiled only once: changes take effect after a reload of
the server.

=cut
