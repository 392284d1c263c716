package ModPerl::Registry;

use v5.36;

use ModPerl::RegistryCooker ();

our @ISA = ('ModPerl::RegistryCooker');

sub handler : method {
    my $r     = pop;
    my $class = shift // __PACKAGE__;
    return ModPerl::RegistryCooker::serve( $class, $r );
}

*should_compile = \&ModPerl::RegistryCooker::should_compile_if_modified;

1;

__END__

=head1 NAME

ModPerl::Registry - CGI scripts that stay compiled

=head1 SYNOPSIS

    <Location /perl>
        SetHandler perl-script
        PerlResponseHandler ModPerl::Registry
        PerlOptions +ParseHeaders
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

A script is compiled at its first request, into a package named after its file, and again when the
file has changed. The current folder stays the server's: see L<ModPerl::RegistryPrefork> for the
alternative. C<exit> ends the request only; END blocks run at its end. For subclasses see
L<ModPerl::RegistryCooker>.

=cut
