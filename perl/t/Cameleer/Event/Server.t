# Streams of a server: they are counted, and the loop ends with the last one after the order to leave.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;
use POSIX  ();
use Socket ();

BEGIN {
    eval { require IO::Async::Loop; 1 } or plan skip_all => 'IO::Async is not installed';
}

use Cameleer::Event::Server;

package My::Server {
    use parent -norequire, 'Cameleer::Event::Server';
    sub loop ($class) { return IO::Async::Loop->new }

    sub exchange ( $self, $stream, $method, $target, $fields ) {
        $stream->{exchange} = my $exchange = bless { stream => $stream }, 'My::Exchange';
        $self->{answer} = sub { $stream->write("$method $target"); $stream->next($exchange) };
        return;
    }
}

my $server = My::Server->new(undef);
socketpair my $front, my $worker, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!";
$server->add( POSIX::dup( fileno $worker ) );
close $worker;
is keys %{ $server->{streams} }, 1, 'a stream';
syswrite $front, "GET /x HTTP/1.1\r\n\r\n";
$server->{loop}->loop_once until $server->{answer};
$server->leave;
ok !$server->{is_over}, 'a request is waited for';
$server->later( delete $server->{answer} );
$server->{loop}->run;
sysread $front, my $answer, 100;
is $answer, 'GET /x', 'its response is written';
is keys %{ $server->{streams} }, 0, 'and its stream is closed';

done_testing;
