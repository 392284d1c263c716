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

ModPerl::RegistryBB - Registry with nothing but what it takes to run a script

=head1 SYNOPSIS

    <Location /perl>
        SetHandler perl-script
        PerlResponseHandler ModPerl::RegistryBB
        PerlOptions +ParseHeaders
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

As L<ModPerl::Registry>, but a script is compiled once: a change of its file shows after a reload of the server.

=cut
