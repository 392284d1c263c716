# APR::ThreadMutex: locks and unlocks a mutex; run by packages.t

use v5.36;

sub My::Mutex::new_one { require APR::Pool; return APR::ThreadMutex->new( APR::Pool->new ) }

return {
    a_mutex_is_locked_and_unlocked => [ sub ($r) { my $m = My::Mutex::new_one(); join '|', $m->lock, $m->unlock, $m->trylock, $m->unlock }, '0|0|0|0' ],
    a_mutex_has_its_pool           => [ sub ($r) { ref My::Mutex::new_one()->pool_get }, 'APR::Pool' ],
    leaks_nothing                  => [ sub ($r) { TestServer::growth( sub { my $m = My::Mutex::new_one(); $m->lock; $m->unlock } ) }, 'steady' ],
};
