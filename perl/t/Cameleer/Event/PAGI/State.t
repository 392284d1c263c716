# The way of a request, as applications see it.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

require Future;
my @said;
my $state = Cameleer::Event::PAGI::State->new;
my $future = $state->disconnect_future;
$state->on_disconnect( sub ($why) { push @said, "1 $why " . $state->is_connected . $state->disconnect_reason . $future->is_ready } );
$state->on_disconnect( sub ($why) { push @said, "2 $why" } );
$state->on_complete( sub { push @said, 'complete' } );
$state->disconnect('client_closed');
$state->disconnect('write_error');
$state->finish;
is_deeply \@said, [ '1 client_closed 0client_closed1', '2 client_closed' ], 'a disconnect happens once, and is no completion';
$state->on_disconnect( sub ($why) { push @said, "late $why" } );
$state->on_complete( sub { push @said, 'late complete' } );
is $said[-1], 'late client_closed', 'a late callback is called at once';
is $state->disconnect_future->get, 'client_closed', 'a late future is ready';

@said  = ();
$state = Cameleer::Event::PAGI::State->new;
$state->on_disconnect( sub { push @said, 'disconnect' } );
$state->on_complete( sub { push @said, 'complete' } );
$future = $state->disconnect_future;
$state->finish;
$state->finish;
$state->disconnect('client_closed');
is_deeply [ @said, $state->is_connected, $state->disconnect_reason, $future->is_ready ? 1 : 0 ], [ 'complete', 0, undef, 0 ], 'a completion happens once, and is no disconnect';

done_testing;
