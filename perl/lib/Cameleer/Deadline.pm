package Cameleer::Deadline;

use v5.36;

use constant MAX_DEPTH => 200;

# The server calls this between two ops of a request that has taken too long, just before it dies: returns its
# stack, innermost frame first.
sub stack {
    my @lines = 'RequestTimeout has passed; Perl was here, innermost first:';
    my $depth = 0;
    # caller() counts from the innermost frame on each call, so a walk through an endless recursion would take
    # too long.
    while ( $depth < MAX_DEPTH ) {
        my ( undef, $file, $line ) = caller $depth;
        last unless $line;    # the server's frame, which called the program
        my $sub = ( caller ++$depth )[3] // '(the main program)';
        push @lines, "  $sub at $file line $line";
    }
    push @lines, '  ...' if $depth == MAX_DEPTH;
    return join '', map { "$_\n" } @lines;
}

1;

__END__

=head1 NAME

Cameleer::Deadline - the stack of a request that takes too long

=head1 DESCRIPTION

The server calls this module when C<RequestTimeout> has passed. A program gets more time by C<<
$r->extend_timeout(SECONDS) >> or, in PSGI, by C<< $env->{'cameleer.extend_timeout'}->(SECONDS) >>.

=cut
