# Apache::Timeit: logs the times of a request; run by packages.t

use v5.36;
use Benchmark ();

return {
    handler_declines     => [ sub ($r) { Apache::Timeit::handler($r) }, '-1' ],
    report_logs_the_time => [ sub ($r) { Apache::Timeit::report( '/x', Benchmark->new ); 'logged' }, 'logged' ],
    leaks_nothing        => [ sub ($r) { my $start = Benchmark->new; TestServer::growth( sub { Benchmark::timestr( Benchmark::timediff( Benchmark->new, $start ) ) } ) }, 'steady' ],
};
