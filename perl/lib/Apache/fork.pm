package Apache::fork;

use v5.36;

use Apache::SubProcess ();

# As perl's fork; in the child the server's sockets are closed.
sub fork { return Apache::SubProcess::fork() }    ## no critic: the name is the API's

# `exit` of a child that a request forked: ends it, and runs nothing of the request's.
sub child_exit ( $code = 0 ) { return POSIX::_exit($code) }

1;

__END__

=head1 NAME

Apache::fork - forks a child that holds no socket of the server

=head1 SYNOPSIS

    use Apache::fork ();

    my $pid = Apache::fork::fork() // die "fork: $!\n";
    if ( $pid == 0 ) {
        ...;
        Apache::fork::child_exit(0);
    }

=head1 SEE ALSO

L<Apache::SubProcess>

=cut
