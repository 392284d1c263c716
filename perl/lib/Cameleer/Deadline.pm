package Cameleer::Deadline;

use v5.36;

use constant DEEPEST => 200;

# Called between two ops of a request that has taken too long, just before it dies: where it is, innermost frame first.
sub stack {
    my @lines = 'RequestTimeout has passed; Perl was here, innermost first:';
    my $depth = 0;
    # perl counts the frames from the innermost one each time it is asked: all of an endless recursion would take longer than it did.
    while ( $depth < DEEPEST ) {
        my ( undef, $file, $line ) = caller $depth;
        last unless $line;    # the server, which has called the program
        my $sub = ( caller ++$depth )[3] // '(the main program)';
        push @lines, "  $sub at $file line $line";
    }
    push @lines, '  ...' if $depth == DEEPEST;
    return join '', map { "$_\n" } @lines;
}

1;

__END__

=head1 NAME

Cameleer::Deadline - where a request is that has taken too long

=head1 DESCRIPTION

Called by the server when C<RequestTimeout> has passed. A program asks for more time by C<< $r->extend_timeout(SECONDS) >>,
or, under PSGI, by C<< $env->{'cameleer.extend_timeout'}->(SECONDS) >>.

=cut
