package Apache::Timeout;

use v5.36;

# The running timer: { seconds, the earlier $SIG{ALRM} }.
my $running;

# In a worker only the program itself can be slow, and only an alarm can interrupt it.
sub start ( $r, $what, $is_hard ) {
    $running //= { before => $SIG{ALRM} };
    $running->{seconds} = $r->server->timeout;
    $SIG{ALRM} = sub { expire( $r, $what, $is_hard ) };    ## no critic: it lasts until stop
    alarm $running->{seconds};
    return;
}

sub stop {
    my $timer = $running // return;
    alarm 0;
    if ( defined $timer->{before} ) { $SIG{ALRM} = $timer->{before} }    ## no critic: as it was
    else                            { delete $SIG{ALRM} }
    undef $running;
    return;
}

sub again {
    alarm $running->{seconds} if $running;
    return;
}

# Soft: the program continues, but its output is dropped. Hard: the program ends.
sub expire ( $r, $what, $is_hard ) {
    stop();
    $r->give_up( "$what timed out for " . $r->connection->remote_ip );
    CORE::exit() if $is_hard;
    return;
}

1;

__END__

=head1 NAME

Apache::Timeout - the timers behind $r->soft_timeout and $r->hard_timeout

=cut
