package Apache::Scoreboard::Server;

use v5.36;

use GTop ();

my %LETTER = ( Starting => 'S', Idle => '_', Busy => 'W', Retiring => 'G', Gone => '.' );

sub new ( $class, $status ) { return bless {%$status}, $class }

sub pid        ($s) { return $s->{pid} }
sub slot       ($s) { return $s->{slot} }
sub generation ($s) { return $s->{generation} }
sub state      ($s) { return $s->{state} }
sub status     ($s) { return $LETTER{ $s->{state} } // '?' }

# Requests of this process; there is no other that had its place.
sub access_count    ($s) { return $s->{requests} }
sub my_access_count ($s) { return $s->{requests} }

# `GET /path`, while it has one, and for how many milliseconds it has been in its state.
sub request  ($s) { return $s->{request} }
sub req_time ($s) { return $s->{since_ms} }

# (user, system) seconds.
sub times ($s) {    ## no critic: the name is the API's
    my $time = GTop->new->proc_time( $s->{pid} );
    return map { $_ / $time->frequency } $time->utime, $time->stime;
}

sub start_time ($s) { return GTop->new->proc_time( $s->{pid} )->start_time }

1;

__END__

=head1 NAME

Apache::Scoreboard::Server - one worker of the scoreboard

=head1 SYNOPSIS

    printf "%d %s %d %s\n", $server->pid, $server->status, $server->access_count, $server->request // '-';

=head1 DESCRIPTION

=over

=item C<pid>, C<slot>, C<generation>

The process, its place in the pool, and which reload it belongs to.

=item C<status>, C<state>

The letter of httpd's status page: C<S> starting, C<_> waits, C<W> has a request, C<G> leaves after it, C<.> gone. C<state>
is the word of C<cameleer status>.

=item C<access_count>, C<my_access_count>

The requests that this process has had; both are the same.

=item C<request>, C<req_time>

C<GET /path> while it has one, else undef; and for how many milliseconds it has been in its state.

=item C<times>, C<start_time>

(user, system) seconds of CPU time, and the second when it was forked.

=back

=cut
