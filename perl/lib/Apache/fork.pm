package Apache::fork;

use v5.36;
use Exporter 'import';

use Apache::SubProcess ();

our @EXPORT = qw(fork forkoption);

# Bits: 1, the child lets go of the server's sockets; 2, `exit` ends the child, which it does here anyway.
my $option = 3;

# As it was, and set for this process from now on.
sub forkoption (@new) {
    my $before = $option;
    $option = $new[-1] if @new;
    return $before;
}

sub fork { return $option & 1 ? Apache::SubProcess::fork() : CORE::fork() }    ## no critic: the name is the API's

# `exit` of a child that a request forked: ends it, and runs nothing of the request's.
sub child_exit ( $code = 0 ) { return POSIX::_exit($code) }

1;

__END__

=head1 NAME

Apache::fork - forks a child that holds no socket of the server

=head1 SYNOPSIS

    use Apache::fork;    # fork is this one from here on

    my $pid = fork();
    die "fork: $!\n" if !defined $pid;
    if ( $pid == 0 ) {
        ...;
        Apache::fork::child_exit(0);    # or exit
    }

C<forkoption(0)> is perl's own C<fork>, 1 and 3 (the default) have the child close the server's sockets. It holds for the process,
beyond the request, and returns what it was.

=head1 SEE ALSO

L<Apache::SubProcess>

=cut
