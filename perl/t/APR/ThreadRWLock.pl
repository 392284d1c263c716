# APR::ThreadRWLock: locks and unlocks for readers and for a writer; run by packages.t

use v5.36;

sub My::RWLock::new_one { require APR::Pool; return APR::ThreadRWLock->new( APR::Pool->new ) }

return {
    a_writer_locks_and_unlocks     => [ sub ($r) { my $l = My::RWLock::new_one(); join '|', $l->wrlock, $l->unlock, $l->trywrlock, $l->unlock }, '0|0|0|0' ],
    several_readers_share_the_lock => [ sub ($r) { my $l = My::RWLock::new_one(); join '|', $l->rdlock, $l->tryrdlock, $l->unlock, $l->unlock }, '0|0|0|0' ],
    a_lock_has_its_pool            => [ sub ($r) { ref My::RWLock::new_one()->pool_get }, 'APR::Pool' ],
};
