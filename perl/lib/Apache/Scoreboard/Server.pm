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

# Requests of this process; a slot's earlier processes are not counted.
sub access_count    ($s) { return $s->{requests} }
sub my_access_count ($s) { return $s->{requests} }

# `GET /path` during a request, and the time in the current state in milliseconds.
sub request  ($s) { return $s->{request} }
sub req_time ($s) { return $s->{since_ms} }

# CPU time as (user, system) seconds.
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

The process id, the slot in the pool, and the generation that the worker belongs to.

=item C<status>, C<state>

The letter of httpd's status page: C<S> starting, C<_> waiting, C<W> working, C<G> leaving after its
request, C<.> gone. C<state> is the word of C<cameleer status>.

=item C<access_count>, C<my_access_count>

The number of requests of this process; both are the same.

=item C<request>, C<req_time>

C<GET /path> during a request, else undef; and the time in the current state in milliseconds.

=item C<times>, C<start_time>

CPU time as (user, system) seconds, and the time of the fork in seconds since 1970.

=back

=cut
