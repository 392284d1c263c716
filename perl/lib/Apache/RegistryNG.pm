package Apache::RegistryNG;

use v5.36;

use Apache::Constants qw(OK);
use Apache::PerlRun   ();

our @ISA = ('Apache::PerlRun');

# One package a file, under however many addresses it is asked for.
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

Apache::RegistryNG - Registry by file name, made of methods

=head1 SYNOPSIS

    SetHandler perl-script
    PerlHandler Apache::RegistryNG->handler
    Options +ExecCGI

=head1 DESCRIPTION

As L<Apache::Registry>, but the package is named after the file (C<Apache::ROOT::srv::perl::news_2epl>): a script that can
be reached under two addresses is compiled once. For subclasses see L<Apache::PerlRun>.

=cut
