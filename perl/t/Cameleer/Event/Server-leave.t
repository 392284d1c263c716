# The end of a worker's loop, with a loop whose time is that of the test.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;
use Socket ();

use Cameleer::Event::Server;

package My::Loop {
    sub new ($class) { return bless { timers => [], is_stopped => 0 }, $class }
    sub watch_io   ( $self, @ ) { return }
    sub unwatch_io ( $self, @ ) { return }
    sub watch_time ( $self, %timer ) { push @{ $self->{timers} }, $timer{code}; return }
    sub stop       ($self)      { $self->{is_stopped} = 1; return }
}

package My::Server {
    our @ISA = 'Cameleer::Event::Server';
    sub loop ($class) { return My::Loop->new }
}

sub server () {
    my $server = My::Server->new(undef);
    return $server, $server->{loop};
}

sub stream () {
    socketpair my $one, my $other, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!";
    state @keep;
    push @keep, $one;
    return $other;
}

my ( $server, $loop ) = server();
$server->leave;
ok !$loop->{is_stopped}, 'a worker without streams waits for those that are on their way';
my $other  = stream();
my $stream = $server->add( fileno $other );
$stream->{exchange} = 'a request';
$loop->{timers}[0]->();
ok !$loop->{is_stopped}, 'the request of a late stream is answered';
$stream->close;
ok $loop->{is_stopped}, 'the loop ends with the last stream';

( $server, $loop ) = server();
$server->leave;
my $second = stream();
$server->add( fileno $second )->close;
ok !$loop->{is_stopped}, 'the end of a stream is not the end of the time';
$loop->{timers}[0]->();
ok $loop->{is_stopped}, 'the loop ends with the time';

done_testing;
