# Apache::SizeLimit: sets limits, and a process within its limits stays; run by packages.t

use v5.36;

return {
    handler_declines                  => [ sub ($r) { Apache::SizeLimit::handler($r) }, '-1' ],
    add_cleanup_handler_returns_ok    => [ sub ($r) { Apache::SizeLimit->add_cleanup_handler($r) }, '0' ],
    each_setter_sets_its_variable     => [
        sub ($r) {
            my @set = map { Apache::SizeLimit->can($_)->( 'Apache::SizeLimit', 2e9 ) } qw(set_max_process_size set_max_unshared_size);
            my $text = join '|', @set, $Apache::SizeLimit::MAX_PROCESS_SIZE, $Apache::SizeLimit::MAX_UNSHARED_SIZE;
            ( $Apache::SizeLimit::MAX_PROCESS_SIZE, $Apache::SizeLimit::MAX_UNSHARED_SIZE ) = ();
            $text;
        },
        join( '|', (2e9) x 4 ),
    ],
    a_process_within_its_limits_stays => [ sub ($r) { Apache::SizeLimit->setmax(1e9); Apache::SizeLimit::setmin(0); Apache::SizeLimit->setmax_unshared(1e9); 'stays' }, 'stays' ],
    leaks_nothing                     => [ sub ($r) { TestServer::growth( sub { Apache::SizeLimit->setmax(1e9); Apache::SizeLimit::handler($r) }, 100 ) }, 'steady' ],
};
