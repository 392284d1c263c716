package Apache::RegistryNG;

use v5.36;

use Apache::Constants qw(OK);
use Apache::PerlRun   ();

our @ISA = ('Apache::PerlRun');

# One package a file, under however many addresses it is asked for.
sub namespace_from ($self) { return $self->{r}->filename }

sub handler {
    my $r     = pop;
    my $class = shift // __PACKAGE__;
    my $self  = $class->new($r);
    my $rc    = $self->can_compile;
    return $rc if $rc != OK;
    $self->namespace;
    return $self->in_place( sub { $self->run_kept } );
}

sub run_kept ($self) {
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
