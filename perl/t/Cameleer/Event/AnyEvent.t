# AnyEvent with the methods of IO::Async::Loop.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;
use Socket ();

BEGIN {
    eval { require AnyEvent; 1 } or plan skip_all => 'AnyEvent is not installed';
}

use Cameleer::Event::AnyEvent;

my $loop = Cameleer::Event::AnyEvent->new;
socketpair my $one, my $other, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!";
my @did;
$loop->watch_io( handle => $one, on_write_ready => sub { push @did, 'write'; $loop->unwatch_io( handle => $one, on_write_ready => 1 ); syswrite $other, 'x' } );
$loop->watch_io( handle => $one, on_read_ready  => sub { push @did, 'read';  $loop->unwatch_io( handle => $one, on_read_ready  => 1 ); $loop->later( sub { push @did, 'later'; $loop->stop } ) } );
$loop->run;
is "@did", 'write read later', 'input, output, and code that runs later';

@did = ();
my $timer = $loop->watch_time( after => 0.01, code => sub { push @did, 'never' } );
$loop->watch_time( after => 0.02, code => sub { push @did, 'timer'; $loop->stop } );
$loop->unwatch_time($timer);
$loop->run;
is "@did", 'timer', 'timers';
is keys %{ $loop->{timers} }, 0, 'that are forgotten';

done_testing;
