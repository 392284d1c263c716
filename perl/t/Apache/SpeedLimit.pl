# Apache::SpeedLimit: rates of clients that are let in or refused; run by packages.t

use v5.36;

# The rate of the last request, or 'in', of a client that sends at these seconds.
sub My::Speed::at (@seconds) {
    my %record = ( since => $seconds[0], count => 0, refused => 0 );
    my @said   = map { Apache::SpeedLimit::seen( \%record, $_, limit => 60, samples => 2, forgive => 100 ) // 'in' } @seconds;
    return $said[-1];
}

return {
    unlimited               => [ sub ($r) { Apache::SpeedLimit::handler($r) }, '-1' ],
    few_requests_are_let_in => [ sub ($r) { My::Speed::at( 1, 1 ) }, 'in' ],
    fast                    => [ sub ($r) { My::Speed::at( 1, 1, 2 ) }, '180' ],
    slow                    => [ sub ($r) { My::Speed::at( 1, 5, 9, 13 ) }, 'in' ],
    forgiven                => [ sub ($r) { My::Speed::at( 1, 1, 2, 200 ) }, 'in' ],
    backwards               => [ sub ($r) { My::Speed::at( 9, 9, 9, 5 ) }, qr/\A(?:in|-?\d+)\z/ ],
    shared                  => [ sub ($r) { join '', map { Apache::SpeedLimit::with_record( 'eighteen', sub ($record) { ++$record->{count} } ) } 1 .. 3 }, '123' ],
    another                 => [ sub ($r) { Apache::SpeedLimit::with_record( 'other---', sub ($record) { ++$record->{count} } ) }, '1' ],
    leaks_nothing           => [ sub ($r) { TestServer::growth( sub { Apache::SpeedLimit::with_record( 'growing-', sub { 1 } ) } ) }, 'steady' ],
};
