package ModPerl::RegistryPrefork;

use v5.36;

use ModPerl::Registry ();

our @ISA = ('ModPerl::Registry');

sub handler : method {
    my $r     = pop;
    my $class = shift // __PACKAGE__;
    return $class->new($r)->default_handler;
}

*chdir_file = \&ModPerl::RegistryCooker::chdir_file_normal;

1;

__END__

=head1 NAME

ModPerl::RegistryPrefork - Registry that runs scripts in their own folders

=head1 SYNOPSIS

    <Location /perl>
        SetHandler perl-script
        PerlResponseHandler ModPerl::RegistryPrefork
        PerlOptions +ParseHeaders
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

Like L<ModPerl::Registry>, but the script runs in its own folder.

=cut
