# Cameleer::Refork: hooks before and after a fork, in order, also when one dies; run by packages.t

use v5.36;

return {
    a_dying_hook_prevents_the_refork      => [ sub ($r) { &Cameleer::Refork::before_fork( sub { die "not now\n" } ); Cameleer::Refork::prepare() }, "not now\n" ],
    b_hooks_run_in_order                  => [ sub ($r) { my @ran; &Cameleer::Refork::after_worker_fork( sub { push @ran, $_[0] // 'one' } ); &Cameleer::Refork::after_worker_fork( sub { push @ran, 'two' } ); Cameleer::Refork::forked(); "@ran" }, 'one two' ],
    c_a_die_in_a_worker_is_a_warning      => [ sub ($r) { &Cameleer::Refork::after_worker_fork( sub { die "in a worker\n" } ); my $said; local $SIG{__WARN__} = sub { $said = "@_" }; Cameleer::Refork::forked(); $said }, "after_worker_fork: in a worker\n" ],
    d_a_hook_of_workers_is_counted        => [ sub ($r) { my $before = Cameleer::Refork::concerns_workers(); &Cameleer::Refork::after_worker_fork( sub { 1 } ); Cameleer::Refork::concerns_workers() - $before }, '1' ],
    e_a_die_in_the_mold_is_reported       => [ sub ($r) { &Cameleer::Refork::after_mold_fork( sub { die "in the mold\n" } ); Cameleer::Refork::promoted('') }, "in the mold\n" ],
    f_the_first_unsafe_reason_is_reported => [ sub ($r) { Cameleer::Refork::no_longer_fork_safe($_) for 'a thread', 'another'; Cameleer::Refork::prepare() }, 'a thread' ],
    one_thread_is_no_reason               => [ sub ($r) { Cameleer::Refork::_threads() // 'one' }, 'one' ],
};
