package Apache::RegistryBB;

use v5.36;

use Apache::Constants  qw(OK NOT_FOUND DECLINED);
use Apache::RegistryNG ();

our @ISA = ('Apache::RegistryNG');

sub handler { return __PACKAGE__->serve(@_) }

# "Bare bones": the file of a compiled script is not checked again.
sub can_compile ($self) {
    return OK if $self->cached;
    my ( $r, $file ) = ( $self->{r}, $self->{r}->filename );
    return Apache::Registry::refuse( $r, NOT_FOUND, $file, 'there is no such file' ) unless $r->has_file && -r $file;
    return Apache::Registry::refuse( $r, DECLINED, $file, 'the path is a folder, not a script' ) if -d _;
    return OK;
}

sub should_compile ($self) { return !$self->cached }

# The script runs in the worker's current folder.
sub chdir_file ( $self, @to ) { return }

1;

__END__

=head1 NAME

Apache::RegistryBB - a minimal Registry

=head1 SYNOPSIS

    SetHandler perl-script
    PerlHandler Apache::RegistryBB->handler

=head1 DESCRIPTION

Like L<Apache::RegistryNG>, but C<Options ExecCGI> and the file's mode are not checked, the current
folder stays, and a compiled script's file is not checked again: there is no C<stat>, and changes
take effect after a reload of the server.

=cut
