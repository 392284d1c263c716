# Cameleer::Pools: the pool of a request and its parent; run by packages.t

use v5.36;

return {
    request              => [ sub ($r) { my $pool = Cameleer::Pools::of_request($r); join '|', ref $pool, $pool == Cameleer::Pools::of_request($r) ? 'one' : 'two' }, 'APR::Pool|one' ],
    the_parent_is_a_pool => [ sub ($r) { ref Cameleer::Pools::of_request($r)->parent_get }, 'APR::Pool' ],
};
