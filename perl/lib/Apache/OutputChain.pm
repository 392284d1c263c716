package Apache::OutputChain;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK);

our $VERSION = '0.11';

# Adds a link to the chain. Output to STDOUT passes the links from the newest to the oldest, which sends it to
# the client.
sub handler ( $r, $class = __PACKAGE__ ) {
    tie *STDOUT, $class, $r, tied *STDOUT;
    return OK;
}

sub TIEHANDLE ( $class, $r, $next = undef ) { return bless { r => $r, next => $next }, $class }

sub PRINT ( $self, @what ) {
    return $self->{next} ? $self->{next}->PRINT(@what) : $self->{r}->print(@what);
}

sub PRINTF ( $self, $format, @values ) { return $self->PRINT( sprintf $format, @values ) }

sub WRITE ( $self, $buffer, $length = length $buffer, $offset = 0 ) {
    $self->PRINT( substr $buffer, $offset, $length );
    return $length;
}

sub BINMODE { return 1 }
sub FILENO  { return 1 }
sub CLOSE   { return 1 }

# The server calls this after the handlers: links pass on their buffered output, from the newest to the oldest.
sub end_of_output ($self) {
    $self->finish;
    $self->{next}->end_of_output if $self->{next};
    return;
}

# Links that buffer output override this.
sub finish ($self) { return }

1;

__END__

=head1 NAME

Apache::OutputChain - handlers that change the output of other handlers

=head1 SYNOPSIS

    PerlHandler Apache::OutputChain My::Capitals Apache::PassFile

    package My::Capitals;
    use parent 'Apache::OutputChain';
    sub handler { my $r = shift; Apache::OutputChain::handler( $r, __PACKAGE__ ) }
    sub PRINT { my $self = shift; $self->Apache::OutputChain::PRINT( map { uc } @_ ) }
    sub finish { my $self = shift; $self->Apache::OutputChain::PRINT("THE END\n") }

=head1 DESCRIPTION

The rightmost handler of the list is the producer: it prints to STDOUT. Its output passes the links
from right to left and leaves through Apache::OutputChain. Each link is a tied handle over the one
before. Headers do not pass the links: the producer's C<send_http_header> sends them.

C<finish> is called when the last handler has returned, exited or died.

=cut
