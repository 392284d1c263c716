# Apache::GTopLimit: the handler declines, and a process within its limits stays; run by packages.t

use v5.36;

return {
    handler_declines                  => [ sub ($r) { Apache::GTopLimit::handler($r) }, '-1' ],
    a_process_within_its_limits_stays => [
        sub ($r) { Apache::GTopLimit->set_max_size(1e9); Apache::GTopLimit::set_min_shared_size(0); Apache::GTopLimit->set_max_unshared_size(1e9); 'stays' },
        'stays',
    ],
    leaks_nothing                     => [ sub ($r) { TestServer::growth( sub { Apache::GTopLimit->set_max_size(1e9); Apache::GTopLimit::handler($r) }, 100 ) }, 'steady' ],
};
