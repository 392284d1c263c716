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

    printf "%d %s %d %s\n", $server->pid, $server->status, $server->access_count, $server->request;

=head1 DESCRIPTION

C<status> is the letter of httpd's status page: C<S> starting, C<_> waits, C<W> has a request, C<G> leaves after it.
C<state> is the word of C<cameleer status>. C<req_time> counts milliseconds.

=cut
