package Apache::RegistryNG;

use v5.36;

use Apache::Constants qw(OK);
use Apache::PerlRun   ();

our @ISA = ('Apache::PerlRun');

# One package per file, for any number of URIs.
sub namespace_from ($self) { return $self->{r}->filename }

sub handler { return __PACKAGE__->serve(@_) }

sub answer ($self) {
    if ( $self->should_compile ) {
        Apache::Registry::Package::forget_subs( $self->namespace );
        $self->prepare;
        my $rc = $self->compile;
        return $rc if $rc != OK;
        $self->set_mtime;
    }
    return $self->run;
}

1;

__END__

=head1 NAME

Apache::RegistryNG - Registry by file name, with methods for subclasses

=head1 SYNOPSIS

    SetHandler perl-script
    PerlHandler Apache::RegistryNG->handler
    Options +ExecCGI

=head1 DESCRIPTION

Like L<Apache::Registry>, but the package is named after the file
(C<Apache::ROOT::srv::perl::news_2epl>): a script that two URIs lead to is compiled once. For
subclasses see L<Apache::PerlRun>.

=cut
