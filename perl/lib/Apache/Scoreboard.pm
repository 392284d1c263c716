package Apache::Scoreboard;

use v5.36;

use Apache::Scoreboard::Server ();
use JSON::PP                   ();
use Socket                     qw(AF_UNIX SOCK_STREAM SOL_SOCKET pack_sockaddr_un);

our $VERSION = '0.10';

# The master's process id, which is part of the front's address; set in each worker.
our $MASTER;

# struct ucred: process, user, group.
my $SO_PEERCRED = 17;

# The state of the server's workers; undef, with an error in the log, if the front does not answer.
sub image ($class) {
    my $image = eval { $class->request } // return _log_error($@);
    return bless $image, $class;
}

sub fetch ( $class, @elsewhere ) {
    return $class->image unless @elsewhere;
    require Carp;
    Carp::croak('Apache::Scoreboard->fetch: only this server has an image here; call it without an address');
}

sub request ($class) {
    socket my $front, AF_UNIX, SOCK_STREAM, 0 or die "cannot create a socket: $!\n";
    my ($namespace) = ( readlink('/proc/self/ns/pid') // '' ) =~ /(.*)/;    # untainted by the match
    my $name = join '/', "\0cameleer", $namespace, $MASTER // 'none';
    connect $front, pack_sockaddr_un($name) or die "cannot connect to the front: $!\n";
    my ( $pid, $user ) = unpack 'iII', getsockopt $front, SOL_SOCKET, $SO_PEERCRED;
    $user == 0 || $user == $> or die "refused the socket of the front: it belongs to user $user, expected root or $>\n";
    local $/ = undef;
    my $status = JSON::PP->new->utf8->decode( scalar <$front> );
    return { %$status, front_pid => $pid, master_pid => $MASTER };
}

sub _log_error ($error) {
    Apache::log_error("Apache::Scoreboard: $error");
    return undef;    ## no critic: a list context expects one value
}

# --- mod_perl 1's views: a chain of processes, or the list of their ids

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

# --- further facts from the front

sub front_pid   ($image) { return $image->{front_pid} }
sub master_pid  ($image) { return $image->{master_pid} }
sub connections ($image) { return $image->{connections} }
sub requests    ($image) { return $image->{requests} }
sub queued      ($image) { return $image->{queued} }

# Connections that wait for a further request (state K): their number, and details of the first hundred.
sub kept        ($image) { return $image->{kept} }
sub kept_clients ($image) { return @{ $image->{kept_clients} } }

package Apache::Scoreboard::Parent;

sub server ($parent) { return $parent->{server} }
sub next   ($parent) { return $parent->{next} }             ## no critic: the name is the API's
sub pid    ($parent) { return $parent->{server}->pid }

1;

__END__

=head1 NAME

Apache::Scoreboard - the state of the server's workers

=head1 SYNOPSIS

    my $image = Apache::Scoreboard->image or return SERVER_ERROR;
    for my $server ( $image->servers ) {
        print join( ' ', $server->pid, $server->status, $server->access_count, $server->request // '-' ), "\n";
    }
    for ( my $parent = $image->parent ; $parent ; $parent = $parent->next ) { print $parent->server->pid }
    my @pids = @{ $image->pids };

=head1 DESCRIPTION

A worker asks the front, which knows the state of every worker, when this method is called. Nothing
is recorded during requests, so the scoreboard costs nothing until it is used. It works in workers
only.

=over

=item C<image>, C<fetch>

The current state of the workers; undef, with an error in the log, if the front does not answer. The
methods below are methods of this image.

=item C<servers>

A list of workers: L<Apache::Scoreboard::Server>.

=item C<pids>

A reference to the list of their process ids.

=item C<parent>

The first of a chain: each element has C<server>, C<pid> and C<next>, which is undef at the end.

=item C<parent_idx_by_pid(PID)>

The index of a process in that chain, from 0; undef if it is no worker.

=item C<front_pid>, C<master_pid>

The server's other processes.

=item C<connections>, C<requests>, C<queued>

Numbers of connected clients, of requests so far, and of requests that wait for a worker.

=item C<kept>, C<kept_clients>

The number of connections that wait for a further request, and for up to a hundred of them C<< {
client => ADDRESS, served => REQUESTS, since_ms => MILLISECONDS } >>.

=back

The methods of a server are in L<Apache::Scoreboard::Server>.

=head1 DIFFERENCES

C<fetch> reads this server's state only: there is no image of another server, and none is written to
files (C<send>, C<freeze>, C<store>). There is no shared memory and no fixed number of slots. A
kept-alive connection occupies no worker, so these connections are listed separately.

=cut
