package ModPerl::PerlRun;

use v5.36;

use ModPerl::RegistryCooker ();

our @ISA = ('ModPerl::RegistryCooker');

sub handler : method {
    my $r     = pop;
    my $class = shift // __PACKAGE__;
    return $class->new($r)->default_handler;
}

*is_cached             = \&ModPerl::RegistryCooker::FALSE;
*should_compile        = \&ModPerl::RegistryCooker::TRUE;
*should_reset_inc_hash = \&ModPerl::RegistryCooker::TRUE;
*flush_namespace       = \&ModPerl::RegistryCooker::flush_namespace_normal;

# Caches only the offset of DATA.
sub cache_it ($self) { return }

1;

__END__

=head1 NAME

ModPerl::PerlRun - CGI scripts that are compiled for every request

=head1 SYNOPSIS

    <Location /perl>
        SetHandler perl-script
        PerlResponseHandler ModPerl::PerlRun
        PerlOptions +ParseHeaders
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

For scripts that rely on fresh global variables: after the run, everything in the script's package
is deleted, and so are files that it required, except modules (C<.pm>). perl itself and modules stay
loaded.

=cut
