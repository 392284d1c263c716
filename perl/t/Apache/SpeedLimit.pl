# Apache::SpeedLimit: rates of clients that are let in or refused; run by packages.t

use v5.36;

# The rate of the last request, or 'in', of a client that sends at these seconds.
sub My::Speed::at (@seconds) {
    my %record = ( since => $seconds[0], count => 0, refused => 0 );
    my @said   = map { Apache::SpeedLimit::seen( \%record, $_, limit => 60, samples => 2, forgive => 100 ) // 'in' } @seconds;
    return $said[-1];
}

return {
    a_place_without_a_limit_is_declined => [ sub ($r) { Apache::SpeedLimit::handler($r) }, '-1' ],
    few_requests_are_let_in             => [ sub ($r) { My::Speed::at( 1, 1 ) }, 'in' ],
    fast_requests_are_refused           => [ sub ($r) { My::Speed::at( 1, 1, 2 ) }, '180' ],
    slow_requests_are_let_in            => [ sub ($r) { My::Speed::at( 1, 5, 9, 13 ) }, 'in' ],
    a_pause_forgives_fast_requests      => [ sub ($r) { My::Speed::at( 1, 1, 2, 200 ) }, 'in' ],
    a_clock_that_goes_back_is_survived  => [ sub ($r) { My::Speed::at( 9, 9, 9, 5 ) }, qr/\A(?:in|-?\d+)\z/ ],
    a_record_is_shared                  => [ sub ($r) { join '', map { Apache::SpeedLimit::with_record( 'eighteen', sub ($record) { ++$record->{count} } ) } 1 .. 3 }, '123' ],
    another_client_has_another_record   => [ sub ($r) { Apache::SpeedLimit::with_record( 'other---', sub ($record) { ++$record->{count} } ) }, '1' ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { Apache::SpeedLimit::with_record( 'growing-', sub { 1 } ) } ) }, 'steady' ],
};
