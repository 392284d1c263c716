# Apache::Timeout: sets, resets and ends soft and hard timeouts; run by packages.t

use v5.36;

our %went_on;

return {
    soft_timeout_starts_the_alarm               => [ sub ($r) { $r->soft_timeout('waiting'); my $set = ref $SIG{ALRM}; my $left = alarm 0; $r->kill_timeout; $set . ( $left > 0 ? ' runs' : '' ) }, 'CODE runs' ],
    kill_timeout_stops_the_alarm                => [ sub ($r) { $r->hard_timeout('waiting'); $r->kill_timeout; ( alarm 0 ) . ( defined $SIG{ALRM} ? 'left' : 'none' ) }, '0none' ],
    the_last_handler_is_restored                => [ sub ($r) { local $SIG{ALRM} = 'IGNORE'; $r->soft_timeout('a'); $r->soft_timeout('b'); $r->kill_timeout; $SIG{ALRM} }, 'IGNORE' ],
    reset_starts_the_time_again                 => [ sub ($r) { $r->soft_timeout('waiting'); alarm 0; $r->reset_timeout; my $left = alarm 0; $r->kill_timeout; $left > 0 ? 'runs' : 'none' }, 'runs' ],
    kill_and_reset_without_a_timeout_do_nothing => [ sub ($r) { $r->kill_timeout; $r->reset_timeout; alarm 0 }, '0' ],
    # The client gets no complete response, so that the next case reports whether the code went on.
    a_soft_timeout_fires                        => [ sub ($r) { $r->soft_timeout('waiting'); kill ALRM => $$; $went_on{soft} = 1; '' }, qr/\A/ ],
    a_soft_timeout_has_let_the_code_continue    => [ sub ($r) { ( $went_on{soft} ? 'went on' : 'ended' ) . ( defined $SIG{ALRM} ? ' left' : '' ) }, 'went on' ],
    a_hard_timeout_fires                        => [ sub ($r) { $r->hard_timeout('waiting'); kill ALRM => $$; $went_on{hard} = 1; '' }, qr/\A/ ],
    a_hard_timeout_has_ended_the_code           => [ sub ($r) { ( $went_on{hard} ? 'went on' : 'ended' ) . ( defined $SIG{ALRM} ? ' left' : '' ) }, 'ended' ],
    leaks_nothing                               => [ sub ($r) { TestServer::growth( sub { $r->soft_timeout('waiting'); $r->kill_timeout } ) }, 'steady' ],
};
