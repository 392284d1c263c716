package Apache::Scoreboard;

use v5.36;

use Apache::Scoreboard::Server ();
use JSON::PP                   ();
use Socket                     qw(AF_UNIX SOCK_STREAM SOL_SOCKET pack_sockaddr_un);

our $VERSION = '0.10';

# The master's process, by which the front is found; set in each worker as it starts.
our $MASTER;

# struct ucred: process, user, group.
my $SO_PEERCRED = 17;

# What the server's workers do now; undef, with a line in the error log, when the front does not say.
sub image ($class) {
    my $image = eval { $class->ask } // return complain($@);
    return bless $image, $class;
}

sub fetch ( $class, @elsewhere ) {
    return $class->image unless @elsewhere;
    require Carp;
    Carp::croak('Apache::Scoreboard->fetch: only this server has an image here: call it without an address');
}

sub ask ($class) {
    socket my $front, AF_UNIX, SOCK_STREAM, 0 or die "a socket: $!\n";
    my ($namespace) = ( readlink('/proc/self/ns/pid') // '' ) =~ /(.*)/;    # by a match: not tainted
    my $name = join '/', "\0cameleer", $namespace, $MASTER // 'none';
    connect $front, pack_sockaddr_un($name) or die "the front does not listen: $!\n";
    my ( $pid, $user ) = unpack 'iII', getsockopt $front, SOL_SOCKET, $SO_PEERCRED;
    $user == 0 || $user == $> or die "who listens in the front's place is user $user\n";
    local $/ = undef;
    my $status = JSON::PP->new->utf8->decode( scalar <$front> );
    return { %$status, front_pid => $pid, master_pid => $MASTER };
}

sub complain ($error) {
    Apache::log_error("Apache::Scoreboard: $error");
    return undef;    ## no critic: a list context expects one value
}

# --- as in mod_perl 1: a chain of processes, or the list of their numbers

sub servers ($image) { return map { Apache::Scoreboard::Server->new($_) } @{ $image->{workers} } }
sub pids    ($image) { return [ map { $_->{pid} } @{ $image->{workers} } ] }

sub parent ($image) {
    my ( $first, @rest ) = map { bless { server => $_ }, 'Apache::Scoreboard::Parent' } $image->servers;
    my $last = $first;
    $last = $last->{next} = $_ for @rest;
    return $first;
}

sub parent_idx_by_pid ( $image, $pid ) {
    my @pids = @{ $image->pids };
    my ($at) = grep { $pids[$_] == $pid } 0 .. $#pids;
    return $at;
}

# --- what the front knows besides

sub front_pid   ($image) { return $image->{front_pid} }
sub master_pid  ($image) { return $image->{master_pid} }
sub connections ($image) { return $image->{connections} }
sub requests    ($image) { return $image->{requests} }
sub queued      ($image) { return $image->{queued} }

# Connections that wait for a further request, state K: how many, and what is known of the first hundred.
sub kept        ($image) { return $image->{kept} }
sub kept_clients ($image) { return @{ $image->{kept_clients} } }

package Apache::Scoreboard::Parent;

sub server ($parent) { return $parent->{server} }
sub next   ($parent) { return $parent->{next} }             ## no critic: the name is the API's
sub pid    ($parent) { return $parent->{server}->pid }

1;

__END__

=head1 NAME

Apache::Scoreboard - what the server's workers do now

=head1 SYNOPSIS

    my $image = Apache::Scoreboard->image or return SERVER_ERROR;
    for my $server ( $image->servers ) {
        print join( ' ', $server->pid, $server->status, $server->access_count, $server->request // '-' ), "\n";
    }
    for ( my $parent = $image->parent ; $parent ; $parent = $parent->next ) { print $parent->server->pid }
    my @pids = @{ $image->pids };

=head1 DESCRIPTION

A worker asks the front, which knows the state of every worker, at that moment. Nothing is written down while requests
are answered, so that a server nobody looks at pays nothing. Works in workers only.

=over

=item C<image>, C<fetch>

What the workers do at this moment; undef, and a line in the error log, when the front does not say. The methods below are
those of an image.

=item C<servers>

A list of workers: L<Apache::Scoreboard::Server>.

=item C<pids>

A reference to the list of their processes.

=item C<parent>

The first of a chain: each element has C<server>, C<pid> and C<next>, which is undef at the end.

=item C<parent_idx_by_pid(PID)>

Where in that chain a process stands, from 0; undef when it is none of the workers.

=item C<front_pid>, C<master_pid>

The server's other processes.

=item C<connections>, C<requests>, C<queued>

How many clients are connected, how many requests there were, how many wait for a worker.

=item C<kept>, C<kept_clients>

How many connections wait for a further request, and of up to a hundred of them
C<< { client => ADDRESS, served => REQUESTS, since_ms => MILLISECONDS } >>.

=back

The methods of a server are in L<Apache::Scoreboard::Server>.

=head1 DIFFERENCES

C<fetch> asks this server: there is no image of another one's, and none is written to files (C<send>, C<freeze>, C<store>).
There is no shared memory and no fixed number of places. A connection that is kept alive holds no worker: it stands
beside them.

=cut
