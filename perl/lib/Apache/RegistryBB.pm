package Apache::RegistryBB;

use v5.36;

use Apache::Constants  qw(OK NOT_FOUND DECLINED);
use Apache::RegistryNG ();

our @ISA = ('Apache::RegistryNG');

sub handler { return __PACKAGE__->serve(@_) }

# Bare bones: once a script is compiled its file is not looked at any more.
sub can_compile ($self) {
    return OK if $self->cached;
    my ( $r, $file ) = ( $self->{r}, $self->{r}->filename );
    return Apache::Registry::refuse( $r, NOT_FOUND, $file, 'there is no such file' ) unless $r->has_file && -r $file;
    return Apache::Registry::refuse( $r, DECLINED, $file, 'it is a folder, not a script' ) if -d _;
    return OK;
}

sub should_compile ($self) { return !$self->cached }

# It runs wherever the worker stands.
sub chdir_file ( $self, @to ) { return }

1;

__END__

=head1 NAME

Apache::RegistryBB - Registry with nothing but what it takes to run a script

=head1 SYNOPSIS

    SetHandler perl-script
    PerlHandler Apache::RegistryBB->handler

=head1 DESCRIPTION

As L<Apache::RegistryNG>, but C<Options ExecCGI> and the file's mode are not asked for, the current folder stays, and a
script that was compiled is never looked at again: no C<stat>, and a change shows after a reload of the server.

=cut
