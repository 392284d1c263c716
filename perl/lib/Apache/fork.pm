package Apache::fork;

use v5.36;
use Exporter 'import';

use Apache::SubProcess ();

our @EXPORT = qw(fork forkoption);

# Bit 1: the child closes the server's sockets. Bit 2: `exit` ends the child, which Cameleer always does.
my $option = 3;

# Returns the old option, and sets a new one for this process.
sub forkoption (@new) {
    my $before = $option;
    $option = $new[-1] if @new;
    return $before;
}

sub fork { return $option & 1 ? Apache::SubProcess::fork() : CORE::fork() }    ## no critic: the name is the API's

# `exit` of a child that a request forked: ends the child without the request's end.
sub child_exit ( $code = 0 ) { return POSIX::_exit($code) }

1;

__END__

=head1 NAME

Apache::fork - a fork that closes the server's sockets in the child

=head1 SYNOPSIS

    use Apache::fork;    # overrides fork in this package

    my $pid = fork();
    die "fork: $!\n" if !defined $pid;
    if ( $pid == 0 ) {
        ...;
        Apache::fork::child_exit(0);    # or exit
    }

C<forkoption(0)> is perl's own C<fork>; with 1 and 3 (the default) the child closes the server's
sockets. The option applies to the process, also after the request. C<forkoption> returns the old
value.

=head1 SEE ALSO

L<Apache::SubProcess>

=cut
